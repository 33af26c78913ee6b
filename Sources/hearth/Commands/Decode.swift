import ArgumentParser
import Foundation
import HearthHome

/// `hearth decode`.
struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode", abstract: "Decode TLV or a whole message.",
    discussion: """
      Takes bytes in hexadecimal (blanks, colons and 0x are ignored), a file of hexadecimal digits or of bytes, or - for \
      standard input. Decodes one complete TLV element as TLV, and any other input as a message.
      """)
  @OptionGroup var options: GlobalOptions
  @Flag(help: "Decode as TLV.") var tlv = false
  @Flag(help: "Decode as a whole message.") var message = false
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Decode as the payload of a message: readRequest, reportData, sigma1, …", valueName: "opcode"))
  var opcode: String?
  @Argument(help: ArgumentHelp("The bytes, or a file with them.", valueName: "hex|file"), completion: .file())
  var input: [String]

  func validate() throws {
    guard [tlv, message, opcode != nil].filter({ $0 }).count <= 1 else {
      throw ValidationError("--tlv, --message and --as are mutually exclusive")
    }
    guard !input.isEmpty else { throw ValidationError("missing the bytes to decode") }
  }

  func run() throws {
    let format: ExplainedFormat = opcode.map { .payload($0) } ?? (tlv ? .tlv : message ? .message : .automatic)
    let explanation = try Explanation.of(try bytes(), as: format)
    options.output.result(Self.json(explanation), explanation.lines().joined(separator: "\n"))
  }

  private func bytes() throws -> [UInt8] {
    let joined = input.joined(separator: " ")
    if let bytes = [UInt8](hexadecimal: joined) { return bytes }
    let data: [UInt8]
    if input == ["-"] {
      data = Array(try FileHandle.standardInput.readToEnd() ?? Data())
    } else {
      do { data = try NamedFile.bytes(joined) } catch {
        throw HomeError(.badArguments, "“\(joined)”: neither hexadecimal digits nor a readable file", cause: error)
      }
    }
    return String(validating: data, as: UTF8.self).flatMap { [UInt8](hexadecimal: $0) } ?? data
  }

  static func json(_ explanation: Explanation) -> JSON {
    var object: JSON = ["label": .string(explanation.label)]
    if !explanation.value.isEmpty { object = object.adding("value", .string(explanation.value)) }
    if let note = explanation.note { object = object.adding("note", .string(note)) }
    if !explanation.children.isEmpty { object = object.adding("children", .array(explanation.children.map(json))) }
    return object
  }
}
