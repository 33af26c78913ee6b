import ArgumentParser
import Home
import VirtualDevices

/// `hearth sim`: what runs here, seen from outside the protocol.
struct Sim: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The virtual devices that run now.", subcommands: [List.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ps", abstract: "The running devices: name, type, node, port, codes, fabrics, state.")
    @OptionGroup var options: GlobalOptions

    func run() throws {
      let directory = try options.stateDirectory
      let fleets = FleetStatus.running(in: directory.run)
      guard !fleets.isEmpty else {
        throw HomeError(
          .notRunning,
          "no virtual devices are running with the state in \(directory.root); start some with 'hearth run FILE'")
      }
      let devices = fleets.flatMap(\.devices)
      options.output.result(DeviceReport.json(devices), DeviceReport.table(devices))
    }
  }
}

/// `hearth types`: what can be simulated.
struct Types: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The device types that can be simulated, with their clusters.")
  @OptionGroup var options: GlobalOptions

  func run() {
    var table = Table("TYPE", "ID", "CLUSTERS", "WHAT IT IS")
    var objects: [JSON] = []
    for kind in DeviceKind.all {
      let clusters = SimulatedDevice.clusterNames(of: kind)
      table.add(kind.name, "\(kind.deviceType)", clusters.joined(separator: " "), kind.summary)
      objects.append([
        "name": .string(kind.name), "id": .string("\(kind.deviceType)"), "summary": .string(kind.summary),
        "clusters": .array(clusters.map { .string($0) }),
      ])
    }
    options.output.result(.array(objects), table.text)
  }
}
