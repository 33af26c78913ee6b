internal import NIOCore
internal import NIOWebSocket

/// A WebSocket client. Confined to the event loop of the server.
final class MatterServerConnection {
  let channel: any Channel
  /// Whether node events are sent to the client.
  var isListening = false
  /// The number of requests without a result.
  var outstanding = 0
  /// The number of bytes that were not written to the socket yet.
  private(set) var queuedBytes = 0
  /// The time since which the socket accepts no bytes.
  var stalled: NIODeadline?
  private var isClosed = false

  init(_ channel: any Channel) { self.channel = channel }

  func send(_ value: JSONValue) {
    write(value.bytes)
    channel.flush()
  }

  /// Queues a text frame, or closes the connection if too much is queued for the client.
  func write(_ text: ByteBuffer) {
    guard !isClosed else { return }
    guard queuedBytes <= MatterServer.Limits.queuedBytes else { return close(.policyViolation) }
    let count = text.readableBytes
    queuedBytes += count
    let frame = WebSocketFrame(fin: true, opcode: .text, data: text)
    channel.write(frame).assumeIsolated().whenComplete { [weak self] _ in self?.queuedBytes -= count }
  }

  /// Closes the connection; a client that does not read the reason is not waited for.
  func close(_ code: WebSocketErrorCode) {
    guard !isClosed else { return }
    isClosed = true
    guard queuedBytes == 0 else { return channel.close(promise: nil) }
    var reason = ByteBuffer()
    reason.write(webSocketErrorCode: code)
    let channel = channel
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: reason)).whenComplete { _ in
      channel.close(promise: nil)
    }
  }
}
