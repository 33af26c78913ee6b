internal import Foundation
internal import Glibc

/// Reads a text file as a whole, and only once, since it may be a pipe.
package enum TextFile {
  /// The limit for pipes and devices, which may be endless, in bytes.
  private static let maximumStreamLength = 256 << 20

  /// The byte order mark with which some editors and spreadsheets begin a file in UTF-8.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the text without a byte order mark.
  /// - Throws: ``DefinitionError`` if the file is not UTF-8, or the system's error if it can't be read.
  package static func read(_ path: String) throws -> String {
    var bytes = try bytes(path)
    if bytes.starts(with: byteOrderMark) { bytes.removeFirst(byteOrderMark.count) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    throw DefinitionError(problems: [notUTF8(bytes, path)])
  }

  /// Returns the path of a file that another file names.
  package static func path(_ name: String, besides file: String) -> String {
    let folder = (file as NSString).deletingLastPathComponent
    return name.hasPrefix("/") || folder.isEmpty ? name : folder + "/" + name
  }

  /// Reads a file as bytes.
  /// - Throws: The system's error if the file can't be read.
  package static func bytes(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw error(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw error(path) }
    let limit = status.st_mode & S_IFMT == S_IFREG ? Int.max : maximumStreamLength
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &part, part.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += part[..<count]
        guard bytes.count <= limit else {
          throw CocoaError(.fileReadTooLarge, userInfo: [NSFilePathErrorKey: path])
        }
      } else if errno != EINTR {
        throw error(path)
      }
    }
  }

  /// Returns why a file can't be read, shorter and clearer than Foundation's text.
  package static func reason(_ error: any Error, _ path: String) -> String {
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
      return "is a directory"
    }
    return switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile: "no such file"
    case .fileReadNoPermission: "permission denied"
    default: error.localizedDescription
    }
  }

  private static func error(_ path: String) -> CocoaError {
    let code: CocoaError.Code =
      switch errno {
      case ENOENT: .fileReadNoSuchFile
      case EACCES, EPERM: .fileReadNoPermission
      default: .fileReadUnknown
      }
    return CocoaError(code, userInfo: [NSFilePathErrorKey: path])
  }

  /// Reports the first byte that is not UTF-8.
  private static func notUTF8(_ bytes: [UInt8], _ path: String) -> DefinitionProblem {
    var mark = SourceMark(file: path, line: 1, column: 1)
    var (decoder, remaining, offset) = (UTF8(), bytes.makeIterator(), 0)
    while case .scalarValue(let scalar) = decoder.decode(&remaining) {
      offset += UTF8.width(scalar)
      if scalar == "\n" { (mark.line, mark.column) = (mark.line + 1, 1) } else { mark.column += 1 }
    }
    let byte = bytes.indices.contains(offset) ? String(bytes[offset], radix: 16) : "00"
    return DefinitionProblem(at: mark, found: "the byte 0x\(byte), which is not UTF-8", expected: "text in UTF-8")
  }
}
