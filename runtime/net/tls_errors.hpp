#pragma once

namespace thalweg::net {

/// Empties OpenSSL's queue of errors of this thread. To be called before reading or writing a TLS connection
/// by whoever does not read the queue after a failure: an error of one connection that stays in it is taken
/// for one of the next. Any thread; a few nanoseconds.
void forget_tls_errors() noexcept;

}  // namespace thalweg::net
