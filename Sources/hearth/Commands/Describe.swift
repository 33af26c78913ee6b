import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol

/// `hearth describe`.
struct Describe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe",
    abstract: "Show the details of a device: endpoints, types, clusters, connectivity, fabrics.",
    discussion: """
      With --check, reads all attributes and lists the violations of the standard: missing and surplus elements, wrong values, \
      missing clusters of device types. Exit code 11 if there is one. Unknown clusters, and differences in clusters and device \
      types of another revision than the one that Hearth implements, are remarks.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Also list what violates the standard.") var check = false
  @Argument(help: "The device.", completion: .device) var device: String

  func run() async throws {
    let timeout = home.network.timeout?.duration ?? .seconds(4)
    var options = try home.options(timeout: timeout)
    options.following.wakesObservers = false
    try await home.withHome(options) { session in
      let record = try HomeRegistry(await session.state).resolve(device).device
      try await session.follow()
      await session.waitForConnectivity(of: [record.id], timeout: timeout)
      // Without a hub, a client knows only the connectivity of devices that have answered it.
      let connectivity = try await session.device(id: record.id).list().first?.sourceConnectivity.connectivityState
      if connectivity == .unknown { _ = try? await session.fabrics(of: record) }
      // The device may have become part of another one in the meantime.
      let found = try await session.device(id: record.id).list().first
      guard let found, let now = found.record else {
        throw HomeError(.notFound, "no longer in the home", device: record.name)
      }
      let row = DeviceRow(device: found, record: now)
      // A partly online device still answers for its own node.
      var (fabrics, refusal): ([FabricEntry]?, String?)
      if row.isPartlyOnline && !now.isBridged {
        do { fabrics = try await session.fabrics(of: now) } catch let error as HomeError
          where error.code == .accessDenied
        {
          refusal = error.messageAndHint
        } catch {
          // The description is printed without fabrics.
        }
      }
      let attestation = await session.attestation(of: now)
      let json = DeviceDescription.json(row, fabrics, attestation)
      let text = DeviceDescription.text(row, fabrics, attestation, refusal: refusal)
      guard check else { return home.output.result(json, text) }
      let report = CheckReport(findings: try await Self.findings(row, session), device: now.name)
      guard let error = report.error else {
        return home.output.result(json.adding(report.json), text + "\n\n" + report.text)
      }
      guard home.output.json else {
        home.output.text(text + "\n\n" + report.text)
        throw error
      }
      home.output.text(
        (["ok": false, "error": Output.object(error), "data": json.adding(report.json)] as JSON).description)
      throw ProcessExit(error.code).error
    }
  }

  /// Reads the node, or the endpoints of a bridged device, and compares them with the standard.
  private static func findings(_ row: DeviceRow, _ session: Home) async throws(HomeError) -> [DeviceCheck.Finding] {
    guard let source = row.device.source, !source.id.isCloud else {
      throw HomeError(
        .refused, "known only from the vendor's cloud, which has a part of its data", device: row.record.name)
    }
    let paths = source.id.isBridged ? source.endpoints.map { AttributePath(endpoint: $0.id) } : [AttributePath()]
    let report = try await session.read(row.record, paths)
    return DeviceCheck(
      Dictionary(report.attributes.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
    ).findings
  }
}

/// Formats all details of a device as text and JSON.
enum DeviceDescription {
  /// - Parameters:
  ///   - fabrics: the fabrics of the device; nil if they are not known.
  ///   - refusal: why the device refused to list its fabrics; nil if it did not refuse.
  static func text(
    _ row: DeviceRow, _ fabrics: [FabricEntry]?, _ attestation: DeviceAttestation? = nil, refusal: String? = nil
  ) -> String {
    let device = row.record
    let identity = device.identity
    let connectivity = row.device.sourceConnectivity.connectivityState.rawValue
    var rows: [(String, String?)] = [
      ("Name", device.name), ("Room", device.room ?? "–"), ("Node", "\(device.source.id)"),
      ("Other sources", otherSources(row)),
      ("Types", device.typeNames.joined(separator: ", ")),
      ("Vendor", named(identity.vendorName, identity.vendorID?.description)),
      ("Product", named(identity.productName, identity.productID.map { VendorID($0).description })),
      ("Serial number", identity.serialNumber), ("Unique id", identity.uniqueID),
      ("Software", identity.softwareVersion), ("Attestation", attestation?.rawValue),
      ("State", DeviceTable.state(row)),
      ("Connectivity", connectivity + (row.device.offlineReason.map { " (\($0.text))" } ?? "")),
      ("Settled", settled(row)), ("Locality", DeviceTable.locality(row)),
      ("Last contact", DeviceTable.contact(row, now: Home.now())),
      ("Next report", row.device.contact.nextReport.map { ClockText.time(milliseconds: $0 / 1000) }),
    ]
    let names = fabrics?.map { Self.text($0) }.joined(separator: ", ")
    rows.append(("Fabrics", names ?? "not known: " + (refusal ?? missingFabricsReason(row))))
    var lines = rows.compactMap { row -> String? in
      guard let value = row.1, !value.isEmpty else { return nil }
      return row.0 + String(repeating: " ", count: 15 - row.0.count) + value.shown()
    }
    for endpoint in row.device.parts.endpoints {
      let types = endpoint.deviceTypes.map { ElementNames.deviceType($0) }.joined(separator: ", ")
      lines += ["", "Endpoint \(endpoint.id): \(types.isEmpty ? "no type" : types)"]
      if !endpoint.servers.isEmpty {
        let known = endpoint.servers.filter { ElementNames.isKnown($0) }
        let names = known.map { ElementNames.cluster($0) + deviation(row, endpoint.id, $0) }
        if !names.isEmpty { lines.append("  clusters  " + names.joined(separator: ", ")) }
        let numbers = endpoint.servers.filter { !ElementNames.isKnown($0) }.map {
          "\($0)" + deviation(row, endpoint.id, $0)
        }
        if !numbers.isEmpty { lines.append("  unknown   " + numbers.joined(separator: ", ")) }
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

  /// The inactive sources with their status: "7/5 (offline: timed out)".
  private static func otherSources(_ row: DeviceRow) -> String? {
    let others = row.device.sources.filter { $0.id != row.device.source?.id }
    return others.isEmpty ? nil : others.map { "\($0.id) (\(words($0.status)))" }.joined(separator: ", ")
  }

  private static func words(_ status: SourceStatus) -> String {
    status.connectivity.connectivityState.rawValue + (status.reason.map { ": \($0.text)" } ?? "")
  }

  /// Why the fabrics of the device are not known.
  private static func missingFabricsReason(_ row: DeviceRow) -> String {
    if row.record.isBridged { return "fabrics are those of its bridge" }
    guard !row.isPartlyOnline else { return "not reported" }
    return row.device.offlineReason?.text ?? "no answer"
  }

  private static func json(_ source: DeviceSource, isActive: Bool) -> JSON {
    let connectivity = source.status.connectivity
    return [
      "source": .string("\(source.id)"), "active": .bool(isActive),
      "connectivityState": .string(connectivity.connectivityState.rawValue),
      "connectivityReason": .optional(source.status.reason?.text),
      "dataSourceLocality": .string(connectivity.dataSourceLocality.rawValue),
    ]
  }

  /// The settled connectivity, or nil if it equals the current one.
  private static func settled(_ row: DeviceRow) -> String? {
    let (now, settled) = (row.device.sourceConnectivity, row.device.settledConnectivity)
    return now.connectivityState == settled.connectivityState ? nil : settled.connectivityState.rawValue
  }

  /// The connectivity of a cluster if it differs from that of the device: " (offline: bridge says unreachable)".
  private static func deviation(_ row: DeviceRow, _ endpoint: EndpointID, _ cluster: ClusterID) -> String {
    let (whole, metadata) = (row.device.sourceConnectivity, metadata(row, endpoint, cluster))
    let own = metadata.sourceConnectivity
    if own == whole { return "" }
    if own.connectivityState == whole.connectivityState { return " (\(own.dataSourceLocality.rawValue))" }
    return " (\(own.connectivityState.rawValue)" + (metadata.offlineReason.map { ": \($0.text)" } ?? "") + ")"
  }

  private static func metadata(_ row: DeviceRow, _ endpoint: EndpointID, _ cluster: ClusterID) -> TraitMetadata {
    row.device.traits.first { $0.endpoint == endpoint && $0.id.cluster == cluster }?.metadata
      ?? TraitMetadata(sourceConnectivity: .unknown)
  }

  /// "1 (this home)", "2 Another Home".
  private static func text(_ fabric: FabricEntry) -> String {
    "\(fabric.index)" + (fabric.label.isEmpty ? "" : " \(fabric.label)") + (fabric.isOurs ? " (this home)" : "")
  }

  private static func named(_ name: String?, _ number: String?) -> String? {
    guard let name, !name.isEmpty else { return number }
    return number.map { "\(name) (\($0))" } ?? name
  }

  static func json(_ row: DeviceRow, _ fabrics: [FabricEntry]?, _ attestation: DeviceAttestation? = nil) -> JSON {
    let device = row.record
    let identity = device.identity
    let endpoints: [JSON] = row.device.parts.endpoints.map { endpoint in
      [
        "id": .int(endpoint.id.rawValue),
        "types": .array(
          endpoint.deviceTypes.map {
            ["id": .int($0.rawValue), "name": .string(ElementNames.deviceType($0))]
          }),
        "clusters": .array(
          endpoint.servers.map { cluster in
            let metadata = metadata(row, endpoint.id, cluster)
            let own = metadata.sourceConnectivity
            return [
              "id": .int(cluster.rawValue), "name": .string(ElementNames.cluster(cluster)),
              "known": .bool(ElementNames.isKnown(cluster)),
              "connectivityState": .string(own.connectivityState.rawValue),
              "connectivityReason": .optional(metadata.offlineReason?.text),
              "dataSourceLocality": .string(own.dataSourceLocality.rawValue),
            ]
          }),
        "clientClusters": .array(
          endpoint.clients.map { ["id": .int($0.rawValue), "name": .string(ElementNames.cluster($0))] }),
        "parts": .array(endpoint.parts.map { .int($0.rawValue) }),
      ]
    }
    let ways = row.device.sources.map { json($0, isActive: $0.id == row.device.source?.id) }
    return DeviceTable.json(row).adding("ways", .array(ways))
      .adding("vendorID", .optional(identity.vendorID?.rawValue))
      .adding("productID", .optional(identity.productID))
      .adding("vendorName", .optional(identity.vendorName)).adding("productName", .optional(identity.productName))
      .adding("serialNumber", .optional(identity.serialNumber)).adding("uniqueID", .optional(identity.uniqueID))
      .adding("softwareVersion", .optional(identity.softwareVersion))
      .adding("attestation", .optional(attestation?.rawValue)).adding("endpoints", .array(endpoints))
      .adding(
        "fabrics",
        fabrics.map { list in
          .array(list.map(FabricReport.json))
        } ?? .null)
  }
}
