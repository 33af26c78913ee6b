internal import NIOCore

/// A frame: its length in four bytes, the highest first, and so many bytes.
enum Frame {
  /// What a client may send in one.
  static let longestMessage = 1 << 20
  /// What a hub may send in one: a whole home that a log's reader has to take.
  static let longestNews = 1 << 26

  static func buffer(_ bytes: [UInt8], _ allocator: ByteBufferAllocator) -> ByteBuffer {
    var buffer = allocator.buffer(capacity: bytes.count + 4)
    buffer.writeInteger(UInt32(clamping: bytes.count))
    buffer.writeBytes(bytes)
    return buffer
  }
}

/// Nobody who means well sends a frame like that.
struct FrameError: Error {}

/// Cuts what comes into frames.
struct FrameDecoder: ByteToMessageDecoder {
  typealias InboundOut = [UInt8]

  /// Longer ones are refused before they are read.
  let longest: Int

  mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return .needMoreData }
    guard length > 0, Int(length) <= longest else { throw FrameError() }
    guard buffer.readableBytes >= 4 + Int(length) else { return .needMoreData }
    buffer.moveReaderIndex(forwardBy: 4)
    guard let bytes = buffer.readBytes(length: Int(length)) else { return .needMoreData }
    context.fireChannelRead(wrapInboundOut(bytes))
    return .continue
  }

  mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    // Half a frame is none.
    .needMoreData
  }
}
