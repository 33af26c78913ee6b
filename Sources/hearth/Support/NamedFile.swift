import Foundation
import Home
import VirtualDevices

/// Files that the user named: what goes wrong with them is the user's to mend.
enum NamedFile {
  /// Why a file can't be used, in fewer words than Foundation's; of a directory that has but a number to say.
  /// - Parameter code: where it can't be read at all; what is wrong in it is a bad definition.
  static func unusable(_ path: String, _ error: any Error, _ code: HomeError.Code = .badArguments) -> HomeError {
    if error is DefinitionError { return HomeError(.badDefinition, "\(error)", cause: error) }
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    let reason =
      switch (error as? CocoaError)?.code {
      case _ where exists && isDirectory.boolValue: "it is a directory"
      case .fileReadNoSuchFile: "there is no such file"
      case .fileReadNoPermission: "you may not"
      default: error.localizedDescription
      }
    return HomeError(code, "\(path) can't be read: \(reason)", cause: error)
  }

  /// Writes a file, all of it or nothing. What is no file but a pipe or a terminal is written to as it is.
  static func write(_ text: String, to path: String) throws {
    do {
      let url = URL(filePath: path).resolvingSymlinksInPath()
      let kind = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
      try Data(text.utf8).write(to: url, options: kind ?? .typeRegular == .typeRegular ? .atomic : [])
    } catch {
      throw HomeError(.badArguments, "\(path) can't be written: \(error.localizedDescription)", cause: error)
    }
  }

  /// Writes a file into a directory, which is made.
  static func write(_ text: String, to directory: String, _ name: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw HomeError(.badArguments, "\(directory) can't be made: \(error.localizedDescription)", cause: error)
    }
    try write(text, to: "\(directory)/\(name)")
  }
}
