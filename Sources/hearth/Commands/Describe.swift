import ArgumentParser
import Home
import MatterModel

/// `hearth describe`.
struct Describe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Everything about a device: endpoints, types, clusters, how it is reached, its fabrics.")
  @OptionGroup var home: HomeOptions
  @Argument(help: "The device.", completion: .device) var device: String

  func run() async throws {
    try await home.withHome(patience: .seconds(4)) { session in
      let device = try session.registry.resolve(device).device
      let status = await session.status(of: device, timeout: home.network.timeout?.duration ?? .seconds(4))
      let fabrics = status.isOnline ? try? await session.fabrics(of: device) : nil
      home.output.result(json(status, fabrics), text(status, fabrics))
    }
  }

  private func text(_ status: DeviceStatus, _ fabrics: [FabricEntry]?) -> String {
    let device = status.device
    var rows: [(String, String?)] = [
      ("Name", device.name), ("Room", device.room ?? "–"), ("Node", device.id),
      ("Types", device.typeNames.joined(separator: ", ")),
      ("Vendor", named(device.vendorName, device.vendorID?.description)),
      ("Product", named(device.productName, device.productID.map { VendorID($0).description })),
      ("Serial number", device.serialNumber), ("Unique id", device.uniqueID), ("Software", device.softwareVersion),
      ("State", status.isOnline ? status.state.text : "(\(status.state.text))"),
      ("Connectivity", status.connectivity.rawValue + (status.reason.map { " (\($0))" } ?? "")),
      ("Locality", status.isOnline ? status.locality : "–"),
      ("Last contact", DeviceTable.contact(status, now: HomeSession.now())),
    ]
    if let fabrics {
      rows.append(
        ("Fabrics", fabrics.map(Self.text).joined(separator: ", ")))
    }
    var lines = rows.compactMap { row -> String? in
      guard let value = row.1, !value.isEmpty, value != "()" else { return nil }
      return row.0 + String(repeating: " ", count: 15 - row.0.count) + value
    }
    for endpoint in device.endpoints {
      let types = endpoint.deviceTypes.map { ElementNames.deviceType($0) }.joined(separator: ", ")
      lines += ["", "Endpoint \(endpoint.id): \(types.isEmpty ? "no type" : types)"]
      if !endpoint.servers.isEmpty {
        lines.append("  clusters  " + endpoint.servers.map { ElementNames.cluster($0) }.joined(separator: ", "))
      }
      if !endpoint.clients.isEmpty {
        lines.append("  controls  " + endpoint.clients.map { ElementNames.cluster($0) }.joined(separator: ", "))
      }
      if !endpoint.parts.isEmpty {
        lines.append("  parts     " + endpoint.parts.map { "\($0)" }.joined(separator: ", "))
      }
    }
    return lines.joined(separator: "\n")
  }

  /// "1 (this home)", "2 Another Home".
  private static func text(_ fabric: FabricEntry) -> String {
    "\(fabric.index)" + (fabric.label.isEmpty ? "" : " \(fabric.label)") + (fabric.isOurs ? " (this home)" : "")
  }

  private func named(_ name: String?, _ number: String?) -> String? {
    guard let name, !name.isEmpty else { return number }
    return number.map { "\(name) (\($0))" } ?? name
  }

  private func json(_ status: DeviceStatus, _ fabrics: [FabricEntry]?) -> JSON {
    let device = status.device
    let endpoints: [JSON] = device.endpoints.map { endpoint in
      [
        "id": .integer(endpoint.id.rawValue),
        "types": .array(
          endpoint.deviceTypes.map {
            ["id": .integer($0.rawValue), "name": .string(ElementNames.deviceType($0))]
          }),
        "clusters": .array(
          endpoint.servers.map { ["id": .integer($0.rawValue), "name": .string(ElementNames.cluster($0))] }),
        "clientClusters": .array(
          endpoint.clients.map { ["id": .integer($0.rawValue), "name": .string(ElementNames.cluster($0))] }),
        "parts": .array(endpoint.parts.map { .integer($0.rawValue) }),
      ]
    }
    return DeviceTable.json(status)
      .adding("vendorID", device.vendorID.map { .integer($0.rawValue) } ?? .null)
      .adding("productID", device.productID.map { .integer($0) } ?? .null)
      .adding("vendorName", .optional(device.vendorName)).adding("productName", .optional(device.productName))
      .adding("serialNumber", .optional(device.serialNumber)).adding("uniqueID", .optional(device.uniqueID))
      .adding("softwareVersion", .optional(device.softwareVersion)).adding("endpoints", .array(endpoints))
      .adding(
        "fabrics",
        fabrics.map { list in
          .array(list.map(FabricReport.json))
        } ?? .null)
  }
}
