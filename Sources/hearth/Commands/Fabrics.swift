import ArgumentParser
import HearthHome
import MatterModel

/// `hearth fabrics`.
struct Fabrics: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fabrics", abstract: "List and remove the fabrics of a device.",
    subcommands: [List.self, Remove.self],
    defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the fabrics.")
    @OptionGroup var home: HomeOptions
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
      commandName: "remove", abstract: "Remove a device from another fabric.",
      discussion: "To remove it from this home's fabric, use `hearth remove`.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The device.", completion: .device) var device: String
    @Argument(help: "The index of the fabric, from `hearth fabrics`.") var index: UInt8

    func run() async throws {
      try await home.withDevice(device) { session, device in
        let fabric = try await session.removeFabric(FabricIndex(index), from: device)
        home.output.result(
          device.jsonNames.adding("removed", FabricReport.json(fabric)),
          "removed \(device.label) from fabric \(index)\(fabric.label.isEmpty ? "" : " (\(fabric.label))")")
      }
    }
  }
}

enum FabricReport {
  static func json(_ fabric: FabricEntry) -> JSON {
    [
      "index": .int(fabric.index.rawValue), "fabricID": .string("\(fabric.fabricID.rawValue)"),
      "nodeID": .string("\(fabric.nodeID.rawValue)"), "vendorID": .int(fabric.vendorID.rawValue),
      "label": .string(fabric.label), "isOurs": .bool(fabric.isOurs),
    ]
  }
}
