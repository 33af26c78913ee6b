package import Home
package import MatterCrypto
package import NIOCore

/// Makes a TCP connection one that only the hub and a client with a token can read and write: below it are records, above
/// it the stream.
package final class SecureHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// Finds whose token has an id; nil: nobody's.
  package typealias LookUp = @Sendable ([UInt8]) -> EventLoopFuture<InvitedClient?>

  /// What ends a connection.
  package enum Failure: Error {
    /// The hub does not know the token. Anybody between the two can say so.
    case unknownToken
    case broken
  }

  private enum Phase {
    case calling(SecureHandshake.Client)
    case listening
    case lookingUp
    case proving(SecureHandshake.Server, InvitedClient)
    case open(SecureStream)
    case broken
  }

  private static let longestGreeting = 256
  /// The record that says that a token is not known.
  private static let refusal: [UInt8] = [0, 0, 0, 1, 0xFF]

  private var phase: Phase
  private let lookUp: LookUp?
  private let isReady: ((InvitedClient) -> Void)?
  private var input = ByteBuffer()
  private var random: any RandomSource
  /// What is to be sent when the stream is open.
  private var held: [(ByteBuffer, EventLoopPromise<Void>?)] = []

  /// The client's end.
  package init(tokenHash: [UInt8], random: any RandomSource) {
    var random = random
    phase = .calling(SecureHandshake.Client(tokenHash: tokenHash, random: &random))
    self.random = random
    (lookUp, isReady) = (nil, nil)
  }

  /// The hub's end.
  /// - Parameter isReady: is called when the client has proved who it is.
  package init(
    random: any RandomSource, lookUp: @escaping LookUp, isReady: @escaping (InvitedClient) -> Void
  ) {
    phase = .listening
    (self.random, self.lookUp, self.isReady) = (random, lookUp, isReady)
  }

  // MARK: Beginning and ending

  package func channelActive(context: ChannelHandlerContext) {
    if case .calling(let client) = phase { write(client.hello, context) }
    context.fireChannelActive()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    drop()
    context.fireChannelInactive()
  }

  private func fail(_ failure: Failure, _ context: ChannelHandlerContext) {
    drop()
    context.fireErrorCaught(failure)
    context.close(promise: nil)
  }

  private func drop() {
    phase = .broken
    let all = held
    held = []
    for (_, promise) in all { promise?.fail(ChannelError.ioOnClosedChannel) }
  }

  /// A record of the handshake.
  private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(Frame.buffer(bytes, context.channel.allocator)), promise: nil)
  }

  // MARK: Outwards

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let buffer = unwrapOutboundIn(data)
    switch phase {
    case .open(var stream):
      do throws(SecureError) {
        let records = try stream.seal(Array(buffer.readableBytesView))
        phase = .open(stream)
        context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: records)), promise: promise)
      } catch {
        promise?.fail(error)
        fail(.broken, context)
      }
    case .broken: promise?.fail(ChannelError.ioOnClosedChannel)
    default: held.append((buffer, promise))
    }
  }

  // MARK: Inwards

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .broken = phase { return }
    var new = unwrapInboundIn(data)
    // Who is not known yet has no more to say than the greeting.
    if case .lookingUp = phase, input.readableBytes + new.readableBytes > Self.longestGreeting {
      return fail(.broken, context)
    }
    input.writeBuffer(&new)
    takeIn(context)
  }

  private func takeIn(_ context: ChannelHandlerContext) {
    while let length = input.getInteger(at: input.readerIndex, as: UInt32.self) {
      // What comes while it is looked up who calls waits.
      if case .lookingUp = phase { return }
      if case .broken = phase { return }
      let isOpen = if case .open = phase { true } else { false }
      let longest = isOpen ? SecureStream.longest + AESCCM.tagByteCount : Self.longestGreeting
      guard length > 0, Int(length) <= longest else { return fail(.broken, context) }
      guard input.readableBytes >= 4 + Int(length) else { break }
      input.moveReaderIndex(forwardBy: 4)
      take(input.readBytes(length: Int(length)) ?? [], context)
    }
    input.discardReadBytes()
  }

  private func take(_ record: [UInt8], _ context: ChannelHandlerContext) {
    do throws(SecureError) {
      switch phase {
      case .open(var stream):
        let text = try stream.open(record)
        phase = .open(stream)
        context.fireChannelRead(wrapInboundOut(context.channel.allocator.buffer(bytes: text)))
      case .calling(let client):
        guard record != [0xFF] else { return fail(.unknownToken, context) }
        let (proof, stream) = try client.finish(record)
        write(proof, context)
        open(stream, context)
      case .listening: try called(record, context)
      case .proving(let server, let client):
        let stream = try server.finish(record)
        isReady?(client)
        open(stream, context)
      case .lookingUp, .broken: break
      }
    } catch { fail(.broken, context) }
  }

  private func open(_ stream: SecureStream, _ context: ChannelHandlerContext) {
    phase = .open(stream)
    let all = held
    held = []
    for (buffer, promise) in all { write(context: context, data: NIOAny(buffer), promise: promise) }
    context.flush()
  }

  private func called(_ hello: [UInt8], _ context: ChannelHandlerContext) throws(SecureError) {
    guard let lookUp else { throw SecureError() }
    let id = try SecureHandshake.id(in: hello)
    phase = .lookingUp
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    lookUp(id).hop(to: context.eventLoop).whenComplete { result in
      let (handler, context) = bound.value
      handler.found((try? result.get()) ?? nil, hello, context)
    }
  }

  private func found(_ client: InvitedClient?, _ hello: [UInt8], _ context: ChannelHandlerContext) {
    guard case .lookingUp = phase else { return }
    guard let client else {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.refusal)), promise: nil)
      return fail(.unknownToken, context)
    }
    do throws(SecureError) {
      let server = try SecureHandshake.Server(hello, tokenHash: client.tokenHash, random: &random)
      phase = .proving(server, client)
      write(server.answer, context)
      takeIn(context)
    } catch { fail(.broken, context) }
  }
}
