internal import Foundation
internal import HomeModel
internal import Runtime

/// A check of SQLite's write-ahead log. While opening a database, SQLite ignores everything after the first invalid frame of
/// the log without an error, because a loss of power can leave any of the last frames unwritten. That loses commits that
/// were not durable, and is expected. In a log that was written since the machine started, it is damage.
///
/// The format is § 4 of the “Database File Format” of SQLite: a header of 32 bytes, then frames of 24 bytes and a page. Each
/// frame has a checksum of all before it, and repeats the salt of the header, which changes when the log is reused.
enum WriteAheadLog {
  private static let header = 32, frameHeader = 24, defaultPage = 4096
  /// The smallest block of a disk, and the minimum number of zeros at the end that indicate an unwritten block.
  private static let block = 512, leastZeros = 16

  /// Returns the position of the first damage with committed transactions after it; nil if at most the end is torn, or if
  /// the machine may have lost power since the log was written.
  /// - Parameter path: the path of the log, which may be missing, or be written by another process.
  static func damage(_ path: String) throws(HomeError) -> Int? {
    guard MachineStart.isEarlier(thanChangeOf: path) else { return nil }
    var before: Data?
    // A read during a write of another process can return a mix of two states. Two equal reads are consistent.
    for _ in 0..<20 {
      guard let data = try Files.read(path), let damage = damage([UInt8](data)) else { return nil }
      if data == before { return damage }
      before = data
    }
    return nil
  }

  private static func damage(_ bytes: [UInt8]) -> Int? {
    guard bytes.count > header, bytes[..<header].contains(where: { $0 != 0 }) else { return nil }
    var computed = checksum(bytes, 0..<24, isBigEndian: bytes[3] & 1 == 1)
    var stored = (number(bytes, 24), number(bytes, 28))
    let isHeaderValid = computed == stored
    // A valid page size is a power of two.
    let page = isHeaderValid ? Int(number(bytes, 8)) : defaultPage
    let isBigEndian = isHeaderValid && bytes[3] & 1 == 1
    guard (512...65536).contains(page), page.nonzeroBitCount == 1 else { return 0 }
    var damage = isHeaderValid ? nil : 0
    var frame = header
    while bytes.count - frame >= frameHeader + page {
      let content = frame + frameHeader..<frame + frameHeader + page
      func sum(_ seed: (UInt32, UInt32)) -> (UInt32, UInt32) {
        checksum(
          bytes, content, isBigEndian: isBigEndian,
          seed: checksum(bytes, frame..<frame + 8, isBigEndian: isBigEndian, seed: seed))
      }
      let (own, before) = ((number(bytes, frame + 16), number(bytes, frame + 20)), stored)
      (computed, stored) = (sum(computed), own)
      // With a damaged header, the salt is unknown.
      let isCurrent = !isHeaderValid || bytes[frame + 8..<frame + 16] == bytes[16..<24]
      // Frames of a transaction that was rolled back may follow the last one, but no end of a transaction: opening
      // starts a new log, so that none remains of commits that a loss of power discarded.
      let isEnd = number(bytes, frame + 4) != 0
      if let damage {
        // The checksum may be the only damage of the frame before.
        if isCurrent, isEnd, own == computed || own == sum(before) { return damage }
      } else if !isCurrent || own != computed {
        damage = frame
        // A frame that ends with the file was written completely, unless its end is an unwritten block.
        let lastBlock = bytes[(bytes.count - leastZeros) / block * block..<bytes.count]
        if isCurrent, isEnd, content.upperBound == bytes.count, lastBlock.contains(where: { $0 != 0 }) {
          return damage
        }
      }
      frame = content.upperBound
    }
    return nil
  }

  private static func checksum(
    _ bytes: [UInt8], _ range: Range<Int>, isBigEndian: Bool, seed: (UInt32, UInt32) = (0, 0)
  ) -> (UInt32, UInt32) {
    bytes.withUnsafeBytes { bytes in
      var sum = seed
      for position in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        let first = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
        let second = bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)
        sum.0 = sum.0 &+ sum.1 &+ (isBigEndian ? UInt32(bigEndian: first) : UInt32(littleEndian: first))
        sum.1 = sum.1 &+ sum.0 &+ (isBigEndian ? UInt32(bigEndian: second) : UInt32(littleEndian: second))
      }
      return sum
    }
  }

  private static func number(_ bytes: [UInt8], _ position: Int) -> UInt32 {
    bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
