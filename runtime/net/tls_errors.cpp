#include "runtime/net/tls_errors.hpp"

#include <openssl/err.h>

namespace thalweg::net {

void forget_tls_errors() noexcept { ERR_clear_error(); }

}  // namespace thalweg::net
