import ArgumentParser
import Foundation
import Home

/// `hearth decode`: bytes, explained.
struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A TLV or a whole message, explained.",
    discussion: """
      Bytes in hexadecimal (blanks, colons and 0x don't matter), a file of such digits or of the bytes themselves, or - for \
      standard input. What is one whole TLV element is taken for that, everything else for a message.
      """)
  @OptionGroup var options: GlobalOptions
  @Flag(help: "It is TLV.") var tlv = false
  @Flag(help: "It is a whole message.") var message = false
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("It is a message's payload: readRequest, reportData, sigma1, …", valueName: "opcode"))
  var opcode: String?
  @Argument(help: ArgumentHelp("The bytes, or where they are.", valueName: "hex|file"), completion: .file()) var input:
    [String]

  func validate() throws {
    guard [tlv, message, opcode != nil].filter({ $0 }).count <= 1 else {
      throw ValidationError("--tlv, --message and --as exclude each other")
    }
    guard !input.isEmpty else { throw ValidationError("there is nothing to decode") }
  }

  func run() throws {
    let format: ExplainedFormat = opcode.map { .payload($0) } ?? (tlv ? .tlv : message ? .message : .automatic)
    let explanation = try Explanation.of(try bytes(), as: format)
    options.output.result(Self.json(explanation), explanation.lines().joined(separator: "\n"))
  }

  private func bytes() throws -> [UInt8] {
    let joined = input.joined(separator: " ")
    if let bytes = [UInt8](hexadecimal: joined) { return bytes }
    let data: Data
    if input == ["-"] {
      data = try FileHandle.standardInput.readToEnd() ?? Data()
    } else {
      guard let content = FileManager.default.contents(atPath: joined) else {
        throw HomeError(.badArguments, "“\(joined)” is neither hexadecimal digits nor a file that can be read")
      }
      data = content
    }
    if let text = String(data: data, encoding: .utf8), let bytes = [UInt8](hexadecimal: text) { return bytes }
    return Array(data)
  }

  static func json(_ explanation: Explanation) -> JSON {
    var object: JSON = ["label": .string(explanation.label)]
    if !explanation.value.isEmpty { object = object.adding("value", .string(explanation.value)) }
    if let note = explanation.note { object = object.adding("note", .string(note)) }
    if !explanation.children.isEmpty { object = object.adding("children", .array(explanation.children.map(json))) }
    return object
  }
}
