import ArgumentParser
import HearthHome
import MatterModel
import MatterProtocol

/// `hearth discover`.
struct Discover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discover", abstract: "Find devices on the network.",
    discussion: "Finds commissionable devices by default. Searches for 2 s, or for the time of --timeout.")
  @OptionGroup var home: HomeOptions
  @Flag(help: "Find commissionable devices.") var commissionable = false
  @Flag(help: "Find commissioned devices of any fabric.") var operational = false
  @Flag(help: "Print a line for each device that appears, changes or disappears, until interrupted.") var watch = false

  func run() async throws {
    var queries: [DiscoveryQuery] = []
    if commissionable || !operational { queries.append(.commissionable(.any)) }
    if operational { queries.append(.operational(compressedFabricID: nil, nodeID: nil)) }
    let time: Duration? = watch ? nil : home.network.timeout?.duration ?? .seconds(2)
    let reporter = ServiceReporter(home.output, watch: watch)
    var found: [MatterService] = []
    let options = try home.options()
    found = try await home.withHome(options) { try await services(queries, time, $0, reporter) }
    if watch { return }
    guard !found.isEmpty else {
      throw HomeError(
        .notFound,
        (operational && !commissionable ? "no commissioned device found" : "no commissionable device found")
          + " (searched: \(options.interfaces.words))")
    }
    found.sort { ServiceReporter.key($0) < ServiceReporter.key($1) }
    home.output.result(.array(found.map(ServiceReporter.json)), ServiceReporter.table(found))
  }

  /// Browses for a time, or until it is canceled.
  /// - Returns: the services that are present at the end.
  private func services(
    _ queries: [DiscoveryQuery], _ time: Duration?, _ session: Home, _ reporter: ServiceReporter
  ) async throws -> [MatterService] {
    try await withThrowingTaskGroup(of: [MatterService].self) { group in
      for query in queries {
        let stream = session.discover(query, for: time)
        group.addTask {
          var services: [MatterService.Kind: MatterService] = [:]
          for try await event in stream {
            switch event {
            case .found(let service):
              // A repeated announcement without a change is not reported.
              if services[service.kind] == service { break }
              reporter.found(service, isNew: services[service.kind] == nil)
              services[service.kind] = service
            case .lost(let service):
              services[service.kind] = nil
              reporter.lost(service)
            }
          }
          return Array(services.values)
        }
      }
      var found: [MatterService] = []
      for try await services in group { found += services }
      return found
    }
  }
}

/// Formats discovered services as text and JSON.
struct ServiceReporter {
  let output: Output
  let watch: Bool

  init(_ output: Output, watch: Bool) { (self.output, self.watch) = (output, watch) }

  func found(_ service: MatterService, isNew: Bool) { if watch { line(isNew ? "found" : "changed", service) } }
  func lost(_ service: MatterService) { if watch { line("lost", service) } }

  private func line(_ change: String, _ service: MatterService) {
    let json: JSON = ["ok": true, "data": Self.json(service).adding("change", .string(change))]
    output.text(output.json ? json.description : "\(change)  \(service.kind.instanceLabel)  \(Self.summary(service))")
  }

  static func key(_ service: MatterService) -> String { (service.deviceName ?? "~") + service.kind.instanceLabel }

  private static func kind(_ service: MatterService) -> String {
    switch service.kind {
    case .operational: "operational"
    case .commissionable: "commissionable"
    case .commissioner: "commissioner"
    }
  }

  private static func mode(_ service: MatterService) -> String {
    guard case .commissionable = service.kind else { return "commissioned" }
    return switch service.commissioningMode {
    case 0: "closed"
    case 1: "open"
    default: "open (enhanced)"
    }
  }

  private static func addresses(_ service: MatterService) -> [String] {
    service.addresses.map { "\(SocketAddress($0, port: service.port))" }
  }

  static func summary(_ service: MatterService) -> String {
    [service.deviceName, addresses(service).joined(separator: " ")].compactMap { $0 }.joined(separator: "  ")
  }

  static func table(_ services: [MatterService]) -> String {
    var table = Table("INSTANCE", "NAME", "TYPE", "VENDOR", "DISCRIMINATOR", "MODE", "ADDRESSES")
    for service in services {
      let vendor = service.vendorID.map { vendor in
        VendorID(vendor).description + (service.productID.map { "/" + VendorID($0).description } ?? "")
      }
      table.add(
        service.kind.instanceLabel, service.deviceName ?? "–",
        service.deviceType.map { ElementNames.deviceType(DeviceTypeID($0)) } ?? "–", vendor ?? "–",
        service.discriminator.map { "\($0)" } ?? "–", mode(service), addresses(service).joined(separator: " "))
    }
    return table.text
  }

  static func json(_ service: MatterService) -> JSON {
    var object: JSON = [
      "kind": .string(kind(service)), "instance": .string(service.kind.instanceLabel),
      "hostName": .string(service.hostName),
      "port": .int(service.port), "addresses": .array(service.addresses.map { .string("\($0)") }),
    ]
    switch service.kind {
    case .operational(let fabric, let node):
      object = object.adding("compressedFabricID", .string(fabric.hexadecimal(16))).adding("nodeID", .string("\(node)"))
    case .commissionable, .commissioner:
      object = object.adding("name", .optional(service.deviceName))
        .adding("deviceType", .optional(service.deviceType))
        .adding("deviceTypeName", .optional(service.deviceType.map { ElementNames.deviceType(DeviceTypeID($0)) }))
        .adding("vendorID", .optional(service.vendorID))
        .adding("productID", .optional(service.productID))
        .adding("discriminator", .optional(service.discriminator))
        .adding("commissioningMode", .int(service.commissioningMode))
    }
    return object
  }
}
