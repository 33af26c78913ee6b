import Foundation
import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// A file with addresses of devices, for networks without multicast.
///
/// A line is a device, a colon and its address: `kitchen/ceiling: 192.168.1.20:5540`. The device is a target, a node
/// id, or, for devices to be paired, `discriminator 3840`. An IPv6 address is in brackets: `[fd00::20]:5540`. Text
/// after a `#` and empty lines are ignored.
struct AddressBook: Hashable, Sendable {
  /// A line of the file.
  struct Entry: Hashable, Sendable {
    /// The device, as written in the file.
    var key: String
    var address: SocketAddress
  }

  private(set) var entries: [Entry] = []

  private init() {}

  /// Reads a file; nil creates an empty book.
  init(file: String?) throws(HomeError) {
    self.init()
    guard let file else { return }
    self = try AddressBook(parsing: String(decoding: NamedFile.bytes(file), as: UTF8.self), name: file)
  }

  /// Parses the text of a file.
  /// - Parameter name: the file name, for errors.
  /// - Throws: `badDefinition` with line and column of the first invalid line.
  init(parsing text: String, name: String) throws(HomeError) {
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      func wrong(_ column: Int, _ what: String) -> HomeError {
        HomeError(.badDefinition, "\(name):\(number + 1):\(column): \(what)")
      }
      let content = line.prefix { $0 != "#" }
      guard content.contains(where: { !$0.isWhitespace }) else { continue }
      // A colon followed by a space: names and addresses contain colons without one.
      guard let colon = content.firstRange(of: ": ") else {
        throw wrong(1, "expected DEVICE: HOST:PORT, as kitchen/ceiling: 192.168.1.20:5540")
      }
      let key = content[..<colon.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
      let value = content[colon.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
      let column = content.distance(from: content.startIndex, to: colon.upperBound) + 1
      guard !key.isEmpty else { throw wrong(1, "expected the name of a device before the colon") }
      guard !entries.contains(where: { $0.key.lowercased() == key.lowercased() }) else {
        throw wrong(1, "“\(key)” has an address already, further up")
      }
      if let number = Self.discriminatorText(key), UInt16(number).map({ $0 <= 0xFFF }) != true {
        throw wrong(1, "found discriminator “\(number)”; expected a number from 0 to 4095")
      }
      do throws(HomeError) {
        entries.append(Entry(key: key, address: try HostAndPort.resolve(value)))
      } catch {
        throw wrong(column, error.message)
      }
    }
  }

  /// Returns the addresses of the home's devices, by node.
  /// - Throws: if a name matches several devices. Unknown names are skipped: the device may be paired later.
  func addresses(in registry: HomeRegistry) throws(HomeError) -> [NodeID: SocketAddress] {
    var result: [NodeID: SocketAddress] = [:]
    for entry in entries where Self.discriminatorText(entry.key) == nil {
      do throws(HomeError) {
        result[try registry.resolve(entry.key).device.nodeID] = entry.address
      } catch {
        // A node without a record, such as one that another process has just paired.
        if let node = UInt64(entry.key), error.code == .notFound { result[NodeID(node)] = entry.address }
        if error.code != .notFound { throw error }
      }
    }
    return result
  }

  /// Returns the addresses of devices to be paired that match a discriminator, in the order of the file.
  func addresses(of discriminator: SetupDiscriminator) -> [SocketAddress] {
    entries.compactMap { entry in
      guard let value = Self.discriminatorText(entry.key).flatMap({ UInt16($0) }) else { return nil }
      switch discriminator {
      case .long(let wanted): return value == wanted ? entry.address : nil
      case .short(let wanted): return value >> 8 == UInt16(wanted) ? entry.address : nil
      }
    }
  }

  private static func discriminatorText(_ key: String) -> String? {
    let words = key.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "discriminator" else { return nil }
    return String(words[1])
  }
}
