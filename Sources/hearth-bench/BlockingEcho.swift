import CBench
import Foundation
import Glibc
import MatterProtocol
import Runtime
import Synchronization

/// The baseline: two threads and two blocking sockets on the loopback interface. Each request is answered with a
/// response of the right length.
final class BlockingEcho {
  private let client: CInt
  private let server: CInt
  private var serverAddress = sockaddr_in()
  private let request: [UInt8]
  private let responseSize: Int
  /// The operating system's ID of the answering thread.
  let serverThread: Int32

  init(request: Int, response: Int) throws {
    self.request = [UInt8](repeating: 0x55, count: request)
    responseSize = response
    client = try Self.bound().descriptor
    let (descriptor, address) = try Self.bound()
    server = descriptor
    serverAddress = address
    let number = Mutex<Int32?>(nil)
    let started = DispatchSemaphore(value: 0)
    let thread = Thread {
      number.withLock { $0 = hearth_thread_id() }
      started.signal()
      Self.serve(descriptor, response)
    }
    thread.stackSize = 1 << 18
    thread.start()
    started.wait()
    serverThread = number.withLock { $0 } ?? 0
  }

  /// Ends the thread by sending an empty datagram.
  func close() {
    _ = send([])
    Glibc.close(client)
  }

  /// Runs `count` round trips and times each.
  func run(_ count: Int) throws -> Measured {
    var buffer = [UInt8](repeating: 0, count: 2048)
    var failure = false
    let result = measureEach(count) {
      if !send(request) || recvfrom(client, &buffer, buffer.count, 0, nil, nil) != responseSize { failure = true }
    }
    if failure { throw BenchError("the blocking echo gave no answer in a second: \(String(cString: strerror(errno)))") }
    return result
  }

  /// Returns the time to open and bind sockets, in nanoseconds.
  static func timeToBind(_ count: Int) throws -> Double {
    var open: [CInt] = []
    defer { for descriptor in open { Glibc.close(descriptor) } }
    let begin = HostClock.now()
    for _ in 0..<count { open.append(try bound().descriptor) }
    return Double((HostClock.now() - begin).nanoseconds)
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    withUnsafePointer(to: &serverAddress) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(client, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == bytes.count
      }
    }
  }

  private static func serve(_ descriptor: CInt, _ responseSize: Int) {
    let response = [UInt8](repeating: 0xAA, count: responseSize)
    var buffer = [UInt8](repeating: 0, count: 2048)
    var source = sockaddr_in()
    withUnsafeMutablePointer(to: &source) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { source in
        while true {
          var length = socklen_t(MemoryLayout<sockaddr_in>.size)
          let count = recvfrom(descriptor, &buffer, buffer.count, 0, source, &length)
          if count == 0 { break }
          if count > 0 { sendto(descriptor, response, response.count, 0, source, length) }
        }
      }
    }
    Glibc.close(descriptor)
  }

  /// Opens a socket on a free port of 127.0.0.1 with a receive timeout of one second.
  private static func bound() throws -> (descriptor: CInt, address: sockaddr_in) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard descriptor >= 0, isBound else { throw BenchError("no socket: \(String(cString: strerror(errno)))") }
    return (descriptor, address)
  }
}
