import ArgumentParser
import Home
import MatterModel

/// `hearth fabrics`.
struct Fabrics: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The homes (fabrics) that a device is in.", subcommands: [List.self, Remove.self],
    defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List them.")
    @OptionGroup var home: LocalHomeOptions
    @Argument(help: "The device.", completion: .device) var device: String

    func run() async throws {
      try await home.withDevice(device) { session, device in
        let fabrics = try await session.fabrics(of: device)
        var table = Table("INDEX", "LABEL", "VENDOR", "FABRIC", "NODE")
        for fabric in fabrics {
          table.add(
            "\(fabric.index)", (fabric.label.isEmpty ? "–" : fabric.label) + (fabric.isOurs ? " (this home)" : ""),
            "\(fabric.vendorID)", "\(fabric.fabricID)", "\(fabric.nodeID.rawValue)")
        }
        home.output.result(.array(fabrics.map(FabricReport.json)), table.text)
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take a device out of somebody else's home.",
      discussion: "This home's own is left with `hearth remove`.")
    @OptionGroup var home: LocalHomeOptions
    @Argument(help: "The device.", completion: .device) var device: String
    @Argument(help: "The fabric's index, as `hearth fabrics` lists it.") var index: UInt8

    func run() async throws {
      try await home.withDevice(device) { session, device in
        let fabric = try await session.removeFabric(FabricIndex(index), from: device)
        home.output.result(
          device.jsonNames.adding("removed", FabricReport.json(fabric)),
          "\(device.label) is no longer in fabric \(index)\(fabric.label.isEmpty ? "" : " (\(fabric.label))")")
      }
    }
  }
}

enum FabricReport {
  static func json(_ fabric: FabricEntry) -> JSON {
    [
      "index": .integer(fabric.index.rawValue), "fabricID": .string("\(fabric.fabricID.rawValue)"),
      "nodeID": .string("\(fabric.nodeID.rawValue)"), "vendorID": .integer(fabric.vendorID.rawValue),
      "label": .string(fabric.label), "isOurs": .bool(fabric.isOurs),
    ]
  }
}
