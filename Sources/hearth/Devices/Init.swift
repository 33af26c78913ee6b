import ArgumentParser
import Foundation
import Glibc
import HearthHome
import Scenario

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
  @Argument(
    help: ArgumentHelp(
      "The kind: \(ExampleDefinition.list), or a type of `hearth types`.", valueName: "kind"),
    completion: .list(ExampleDefinition.allCases.map(\.rawValue)))
  var kind: String
  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file(extensions: ["yaml"]))
  var file: String?

  func run() throws {
    guard let example = ExampleDefinition(argument: kind) else { throw ExampleDefinition.unknown(kind) }
    let text = example.text(for: file ?? "FILE")
    if let file { try write(example, text, to: file) }
    options.output.result(
      ["kind": .string(example.rawValue), "file": .optional(file), "text": .string(text)],
      file.map { "wrote \($0); start it with `hearth run \($0.shellWord)`" } ?? text.trimmed)
  }

  /// Writes the definition and the files that it uses, or nothing if one of them exists with other contents.
  private func write(_ example: ExampleDefinition, _ text: String, to file: String) throws {
    let folder = URL(filePath: file).deletingLastPathComponent()
    let others = example.files.map { (path: folder.appending(path: $0.name).relativePath, data: Data($0.bytes)) }
      .filter { FileManager.default.contents(atPath: $0.path) != $0.data }
    var written: [String] = []
    do {
      for (path, data) in [(file, Data(text.utf8))] + others {
        try Self.write(data, to: path)
        written.append(path)
      }
    } catch {
      for path in written { unlink(path) }
      throw error
    }
  }

  /// Writes a new file, and fails if the file exists.
  private static func write(_ data: Data, to file: String) throws {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST ? "exists; choose another name" : "can't be written: \(String(cString: strerror(errno)))"
      throw HomeError(.badArguments, "\(file): \(reason)")
    }
    do {
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try handle.write(contentsOf: data)
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
