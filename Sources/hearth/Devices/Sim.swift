import ArgumentParser
import HearthHome
import VirtualDevices

/// `hearth sim`: access to running virtual devices outside the Matter protocol.
struct Sim: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sim", abstract: "Inspect and control running virtual devices.",
    discussion: """
      The devices are those that run with the state directory. If there are none and it has joined a hub as an owner, they are \
      those that run with the state directory of the hub.
      """,
    subcommands: [
      List.self, SimSet.self, SimGet.self, SimPress.self, SimTrigger.self, SimPower.self, SimNet.self, SimFault.self,
      SimAdd.self, SimRemove.self, SimDrops.self,
    ])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ps", abstract: "List the running devices: name, type, node, port, codes, fabrics, state.")
    @OptionGroup var options: SimOptions

    func run() async throws {
      let devices = try await options.withDevices { $0.fleets.flatMap(\.devices) }
      options.output.result(VirtualDeviceReport.json(devices), VirtualDeviceReport.table(devices))
    }
  }
}

/// `hearth types`.
struct Types: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types", abstract: "List the device types that can be simulated, with their clusters.")
  @OptionGroup var options: GlobalOptions

  func run() {
    var table = Table("TYPE", "ID", "CLUSTERS", "DESCRIPTION")
    var objects: [JSON] = []
    for kind in DeviceKind.all {
      let clusters = SimulatedDevice.clusterNames(of: kind)
      table.add(kind.name, "\(kind.deviceType)", clusters.joined(separator: " "), kind.summary)
      objects.append([
        "name": .string(kind.name), "id": .string("\(kind.deviceType)"), "summary": .string(kind.summary),
        "clusters": .texts(clusters),
      ])
    }
    options.output.result(.array(objects), table.text)
  }
}
