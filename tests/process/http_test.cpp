#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

/// The live endpoint of a run, asked by a plain socket.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

/// What comes back until the connection is closed; what it was sent need not be HTTP.
std::string talk(int port, const std::string& request) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  timeval patience{10, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    ::shutdown(fd, SHUT_WR);
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(got));
    }
  }
  ::close(fd);
  return answer;
}
std::string get(int port, const std::string& path) {
  return talk(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}
std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  ::close(fd);
  return ntohs(at.sin_port);
}

TEST(Http, ARunAnswersWhileItGoesOn) {
  const TempFolder folder;
  const int port = free_port();
  auto job = small_job("out", {"--workers", "2", "--epochs", "1000000"});
  job.insert(job.end(), {"--http", "127.0.0.1:" + std::to_string(port)});
  Process run(job, {.folder = folder.path()});
  ASSERT_TRUE(run.wait_for_err("look at it at http://127.0.0.1:" + std::to_string(port) + "/"));
  ASSERT_TRUE(run.wait_for_err("epoch 1: test accuracy"));

  EXPECT_THAT(get(port, "/healthz"), HasSubstr("200 OK"));
  const Json status = Json::parse(body_of(get(port, "/status.json?x=1")), nullptr, false);
  ASSERT_TRUE(status.is_object());
  EXPECT_EQ(status["state"], "training");
  EXPECT_EQ(status["workers"], 2);
  EXPECT_GT(status["version"], 0);
  const std::string metrics = body_of(get(port, "/metrics"));
  EXPECT_THAT(metrics, HasSubstr("# TYPE thalweg_commits_total counter\nthalweg_commits_total "));
  EXPECT_THAT(metrics, HasSubstr("\nthalweg_workers 2\n"));
  EXPECT_THAT(get(port, "/"), HasSubstr("Who waits for whom"));
  EXPECT_THAT(get(port, "/timeline"), HasSubstr("const DATA={lanes:["));
  EXPECT_THAT(get(port, "/nothing"), StartsWith("HTTP/1.1 404 "));
  EXPECT_EQ(body_of(talk(port, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")), "");
  EXPECT_THAT(talk(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"),
              StartsWith("HTTP/1.1 405 "));

  // What is no request is answered or cut off, and everybody else is answered all the same.
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string junk(1 + random() % 300, '\0');
    for (char& byte : junk) byte = static_cast<char>(random());
    const std::string answer = talk(port, i % 2 == 0 ? junk : "GET / HTTP/1.1\r\n" + junk + "\r\n\r\n");
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
  }
  EXPECT_THAT(talk(port, "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(get(port, "/healthz"), HasSubstr("200 OK"));
  run.send(SIGINT);
  EXPECT_EQ(run.wait().exit_code, 130);
}

TEST(Http, AnAddressThatCannotBeHadIsSaid) {
  const TempFolder folder;
  auto job = small_job("out", {"--http", "203.0.113.77:8080"});
  const Finished finished = run_program(job, {.folder = folder.path()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("cannot listen at 203.0.113.77:8080: "));
}

}  // namespace
}  // namespace thalweg::testing
