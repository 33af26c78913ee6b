import HearthHome
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Runtime
import Testing
import WebClient

@testable import Hub

/// Hubs that close a connection together with their answer to the upgrade, as a process that is ending does.
@Suite("Closing hubs", .timeLimit(.minutes(10))) struct ClosingHubTests {
  enum Answer: CaseIterable {
    case accepts, endsAfterAccepting, refuses
  }

  /// The server uses the event loop of the client, which therefore receives the answer and the end of the stream at once.
  @Test("reports a connection that is closed during its upgrade", arguments: Answer.allCases)
  func reportsEnd(_ answer: Answer) async throws {
    let scratch = Scratch()
    try Files.makeDirectory(scratch.state.run)
    let path = scratch.state.run + "/hub.sock"
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let listener = try await server(at: path, answer, on: loop)
    var options = ServedHome.clientOptions("test", [])
    (options.silence, options.firstPause) = (.seconds(3600), .seconds(3600))
    options.longestPause = .seconds(3600)
    let events = MemberTests.Mutexed<[RouteEvent]>([])
    let link = HubLink(.socket(path), options, on: loop, check: { _ in }) { event in
      events.value.append(event)
    }
    try await loop.submit { link.startNow() }.get()
    #expect(await eventually { events.value.contains { if case .down = $0 { true } else { false } } })
    try await loop.submit { link.stopNow() }.get()
    try await listener.close()
  }

  private func server(at path: String, _ answer: Answer, on loop: any EventLoop) async throws -> any Channel {
    try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
            shouldUpgrade: { channel, _ in
              guard answer == .refuses else { return channel.eventLoop.makeSucceededFuture([:]) }
              HTTPHandler.send(.unauthorized, ["message": "no"], on: channel)
              return channel.eventLoop.makeSucceededFuture(nil)
            },
            upgradePipelineHandler: { channel, _ in
              var frames = [WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: "{}"))]
              if answer == .endsAfterAccepting {
                var reason = ByteBuffer()
                reason.write(webSocketErrorCode: .goingAway)
                frames.append(WebSocketFrame(fin: true, opcode: .connectionClose, data: reason))
              }
              for frame in frames { channel.writeAndFlush(frame, promise: nil) }
              channel.close(promise: nil)
              return channel.eventLoop.makeSucceededVoidFuture()
            })
          let configuration = NIOTypedHTTPServerUpgradeConfiguration<Void>(upgraders: [upgrader]) { channel in
            channel.close()
          }
          _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: .init(upgradeConfiguration: configuration))
        }
      }.withBoundSocket(try SocketPath.listen(at: path, mode: 0o600)).get()
  }
}
