import Foundation
import Glibc
import HearthHome
import MakersClusters
import MatterClusters
import VirtualDevices

/// Files that are named on the command line.
enum NamedFile {
  /// Returns the error for a file that can't be used, shorter and clearer than Foundation's: `notFound` if there is none,
  /// `badArguments` if it can't be read, `badDefinition` for errors in its content.
  static func unusable(_ path: String, _ error: any Error) -> HomeError {
    if error is DefinitionError { return HomeError(.badDefinition, "\(error)", cause: error) }
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    let reason =
      switch (error as? CocoaError)?.code {
      case _ where exists && isDirectory.boolValue: "is a directory"
      case .fileReadNoSuchFile: "no such file"
      case .fileReadNoPermission: "permission denied"
      default: error.localizedDescription
      }
    return HomeError(
      exists ? .badArguments : .notFound, "\(path) can't be read: \(reason)", cause: error)
  }

  /// Reads a whole file.
  static func bytes(_ path: String) throws(HomeError) -> [UInt8] {
    do { return try TextFile.bytes(path) } catch { throw unusable(path, error) }
  }

  private static func checkNamed(_ path: String) throws(HomeError) {
    guard !path.isEmpty else { throw HomeError(.badArguments, "expected the name of a file") }
  }

  /// Checks that a file can be written later, without writing it.
  /// - Throws: `badArguments` for an empty name, a directory, a missing parent directory or a missing permission.
  static func checkWritable(_ path: String) throws(HomeError) {
    try checkNamed(path)
    let url = URL(filePath: path).resolvingSymlinksInPath()
    func isDirectory(_ path: String) -> Bool? {
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) ? isDirectory.boolValue : nil
    }
    let (own, parent) = (isDirectory(url.path), url.deletingLastPathComponent().path)
    let reason: String? =
      switch (own, isDirectory(parent)) {
      case (true?, _): "is a directory"
      case (false?, _): FileManager.default.isWritableFile(atPath: url.path) ? nil : "permission denied"
      case (nil, true?): FileManager.default.isWritableFile(atPath: parent) ? nil : "permission denied"
      case (nil, _): "no such directory"
      }
    if let reason { throw HomeError(.badArguments, "\(path) can't be written: \(reason)") }
  }

  /// Reads the declaration of a manufacturer's cluster, or those of a definition file.
  static func clusters(_ path: String) throws -> [MakersCluster] {
    let text: String
    do { text = try TextFile.read(path) } catch { throw unusable(path, error) }
    do {
      let isDefinition = path.hasSuffix(".yaml") || path.hasSuffix(".yml")
      return try isDefinition
        ? HomeDefinition.clusters(file: path, text: text) : [MakersCluster(text, file: path)]
    } catch {
      throw HomeError(.badDefinition, "\(error)", cause: error)
    }
  }

  /// Writes a file atomically. A pipe or a terminal is written directly.
  static func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

  /// The same for bytes.
  static func write(_ bytes: [UInt8], to path: String) throws {
    try checkNamed(path)
    do {
      let url = URL(filePath: path).resolvingSymlinksInPath()
      let kind = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
      try Data(bytes).write(to: url, options: kind ?? .typeRegular == .typeRegular ? .atomic : [])
    } catch {
      throw HomeError(.badArguments, "\(path) can't be written: \(error.localizedDescription)", cause: error)
    }
  }

  /// Writes the process id into the file of --ready-file, if it is given.
  static func writeReady(_ path: String?) throws {
    guard let path else { return }
    do { try Data("\(getpid())\n".utf8).write(to: URL(filePath: path), options: .atomic) } catch {
      throw HomeError(.internalError, "the ready file \(path) can't be written", cause: error)
    }
  }

  /// Writes a file into a directory, which is created if necessary.
  static func write(_ text: String, to directory: String, _ name: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw HomeError(.badArguments, "\(directory) can't be created: \(error.localizedDescription)", cause: error)
    }
    try write(text, to: "\(directory)/\(name)")
  }
}
