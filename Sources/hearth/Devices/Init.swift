import ArgumentParser
import Foundation
import Glibc
import HearthHome

/// `hearth init`.
struct Init: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Print or write a definition file to start from.",
    discussion: """
      Without a file name it is printed. An existing file is not overwritten. For example:
        hearth init house home.yaml
        hearth run home.yaml --check
        hearth run home.yaml
      """)
  @OptionGroup var options: GlobalOptions
  @Argument(help: ArgumentHelp("The kind: \(Kind.list).", valueName: "kind")) var kind: Kind
  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file(extensions: ["yaml"]))
  var file: String?

  /// The available templates.
  enum Kind: String, CaseIterable, ExpressibleByArgument {
    case light, bridge, sensors, alarms, appliances, lock, climate, covers, water, energy, media, software, maker, house

    static let list = allCases.dropLast().map(\.rawValue).joined(separator: ", ") + " or house"
  }

  func run() throws {
    let text = kind.definition
    guard let file else {
      return options.output.result(
        ["kind": .string(kind.rawValue), "file": .null, "text": .string(text)], text.trimmed)
    }
    try Self.write(text, to: file)
    options.output.result(
      ["kind": .string(kind.rawValue), "file": .string(file), "text": .string(text)],
      "wrote \(file); start it with `hearth run \(file)`")
  }

  /// Writes a new file, and fails if the file exists.
  private static func write(_ text: String, to file: String) throws {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST ? "exists; choose another name" : "can't be written: \(String(cString: strerror(errno)))"
      throw HomeError(.badArguments, "\(file): \(reason)")
    }
    do {
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      unlink(file)
      throw HomeError(.badArguments, "\(file): can't be written: \(error.localizedDescription)", cause: error)
    }
  }
}

extension String {
  /// The text without a trailing newline, which the output adds.
  fileprivate var trimmed: String { hasSuffix("\n") ? String(dropLast()) : self }
}
