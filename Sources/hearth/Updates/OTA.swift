import ArgumentParser
import HearthHome
import HomeText
import MatterDevice
import MatterProtocol
import Scenario
import VirtualDevices

/// `hearth ota`.
struct OTA: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ota", abstract: "Update the software of devices.",
    subcommands: [Create.self, Show.self, Serve.self, Update.self])

  /// `hearth ota create`.
  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Write a software image.",
      discussion: """
        A virtual device reports the version of the image after the update; the payload is not used. For example:
          hearth ota create lamp-2.ota --vendor 0xFFF1 --product 0x8001 --number 2
        """)
    @OptionGroup var options: GlobalOptions
    @Option(help: "The vendor id of the devices.") var vendor: WireNumber
    @Option(help: "The product id of the devices.") var product: WireNumber
    @Option(help: ArgumentHelp("The software version.", valueName: "n")) var number: UInt32
    @Option(help: "The software version as text; by default the number, such as 2.0.") var text: String?
    @Option(help: ArgumentHelp("The lowest version that can be updated.", valueName: "n")) var from: UInt32?
    @Option(help: ArgumentHelp("The highest version that can be updated.", valueName: "n")) var to: UInt32?
    @Option(help: ArgumentHelp("The address of the release notes.", valueName: "url")) var notes: String?
    @Option(
      help: ArgumentHelp("The file with the payload; by default 16 KiB of zeros.", valueName: "file"),
      completion: .file())
    var payload: String?
    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file(extensions: ["ota"]))
    var file: String

    func validate() throws {
      guard 1...64 ~= (text ?? "0").utf8.count else { throw ValidationError("--text: expected 1 to 64 bytes") }
      guard from ?? 0 <= to ?? .max else { throw ValidationError("--from must not exceed --to") }
      guard number > 0 else { throw ValidationError("--number: expected at least 1") }
      guard from ?? 0 < number else { throw ValidationError("--from must be below --number") }
      guard notes?.utf8.count ?? 0 <= 256 else { throw ValidationError("--notes: expected at most 256 bytes") }
    }

    func run() throws {
      var header = SoftwareImageHeader()
      (header.vendorID, header.productID, header.softwareVersion) = (vendor.value, product.value, number)
      header.softwareVersionString = text ?? "\(number).0"
      (header.minimumApplicableVersion, header.maximumApplicableVersion) = (from, to)
      header.releaseNotesURL = notes
      let bytes = try payload.map { try NamedFile.bytes($0) } ?? [UInt8](repeating: 0, count: 16_384)
      let image = SoftwareImage(header, payload: bytes)
      try NamedFile.write(image.encoded, to: file)
      options.output.result(
        SoftwareImageReport.json(image.header, file: file),
        "wrote \(file); update a device with `hearth ota update DEVICE \(file.shellWord)`")
    }
  }

  /// `hearth ota show`.
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the header of a software image, and check it.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The image.", valueName: "file"), completion: .file(extensions: ["ota"]))
    var file: String

    func run() throws {
      let image = try NamedFile.image(file)
      options.output.result(
        SoftwareImageReport.json(image.header, file: file), SoftwareImageReport.text(image.header))
    }
  }
}

/// Formats software images as text and JSON.
enum SoftwareImageReport {
  static func text(_ header: SoftwareImageHeader) -> String {
    var table = Table("FIELD", "VALUE")
    table.add("vendor", "0x" + header.vendorID.hexadecimal(4))
    table.add("product", "0x" + header.productID.hexadecimal(4))
    table.add("version", "\(header.softwareVersion) (\(header.softwareVersionString))")
    if let lowest = header.minimumApplicableVersion { table.add("from version", "\(lowest)") }
    if let highest = header.maximumApplicableVersion { table.add("to version", "\(highest)") }
    if let notes = header.releaseNotesURL { table.add("release notes", notes) }
    table.add("payload", "\(header.payloadSize) bytes")
    table.add("digest", "correct")
    return table.text
  }

  static func json(_ header: SoftwareImageHeader, file: String) -> JSON {
    [
      "file": .string(file), "vendorID": .int(header.vendorID), "productID": .int(header.productID),
      "softwareVersion": .int(header.softwareVersion),
      "softwareVersionString": .string(header.softwareVersionString),
      "minimumVersion": .optional(header.minimumApplicableVersion),
      "maximumVersion": .optional(header.maximumApplicableVersion),
      "releaseNotes": .optional(header.releaseNotesURL), "payloadBytes": .int(header.payloadSize),
    ]
  }
}

extension NamedFile {
  /// Reads a software image, and checks its digest.
  static func image(_ path: String) throws -> SoftwareImage {
    let bytes = try bytes(path)
    do throws(SoftwareImageError) {
      let image = try SoftwareImage(decoding: bytes)
      try image.verify()
      return image
    } catch {
      throw HomeError(.badDefinition, "\(path): \(error)", cause: error)
    }
  }
}
