package import NIOCore

/// A frame: its length in four bytes, the highest first, and so many bytes.
package enum Frame {
  /// What somebody may send in one who is not let in yet.
  package static let longestGreeting = 1 << 12
  /// What a client may send in one.
  package static let longestMessage = 1 << 20
  /// What a hub may send in one: a whole home that a log's reader has to take.
  static let longestNews = 1 << 26

  package static func buffer(_ bytes: [UInt8], _ allocator: ByteBufferAllocator) -> ByteBuffer {
    var buffer = allocator.buffer(capacity: bytes.count + 4)
    buffer.writeInteger(UInt32(clamping: bytes.count))
    buffer.writeBytes(bytes)
    return buffer
  }
}

/// Nobody who means well sends a frame like that.
package struct FrameError: Error {}

/// How long a frame may be now. Confined to the event loop.
package final class FrameLimit {
  package var longest: Int

  package init(_ longest: Int) { self.longest = longest }
}

/// Cuts what comes into frames.
package struct FrameDecoder: ByteToMessageDecoder {
  package typealias InboundOut = [UInt8]

  /// Longer ones are refused before they are read.
  private let limit: FrameLimit

  package init(longest: Int) { limit = FrameLimit(longest) }

  package init(_ limit: FrameLimit) { self.limit = limit }

  package mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return .needMoreData }
    guard length > 0, Int(length) <= limit.longest else { throw FrameError() }
    guard buffer.readableBytes >= 4 + Int(length) else { return .needMoreData }
    buffer.moveReaderIndex(forwardBy: 4)
    guard let bytes = buffer.readBytes(length: Int(length)) else { return .needMoreData }
    context.fireChannelRead(wrapInboundOut(bytes))
    return .continue
  }

  package mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    // Half a frame is none.
    .needMoreData
  }
}
