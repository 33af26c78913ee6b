internal import MatterClusters
public import MatterController
internal import MatterModel
internal import MatterProtocol

/// What came of pairing a device.
public struct PairedDevice: Sendable {
  public var device: DeviceRecord
  public var result: CommissioningResult
}

extension HomeSession {
  /// Commissions a device, reads what it is, and gives it a name. To be called with the home's lock held.
  /// - Parameter name: nil: what it calls itself.
  public static func pair(
    _ request: CommissioningRequest, name: String?, room: String?, _ options: HomeController.Options,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> PairedDevice {
    let lock = try await HomeLock.acquire(options.state)
    var options = options
    options.access = .exclusive
    // A name that can't be is to be found out before anything happens.
    var registry = try HomeStore(options.state).load()
    if let name { _ = try HomeRegistry.checked(name) }
    if let room { _ = try HomeRegistry.checked(room) }
    let session = try await HomeSession(options)
    let paired: Result<PairedDevice, HomeError>
    do throws(HomeError) {
      paired = .success(try await session.pair(request, name, room, &registry, onStep))
    } catch {
      paired = .failure(error)
    }
    await session.close()
    _ = consume lock
    return try paired.get()
  }

  private func pair(
    _ request: CommissioningRequest, _ name: String?, _ room: String?, _ registry: inout HomeRegistry,
    _ onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void
  ) async throws(HomeError) -> PairedDevice {
    let result = try await controller.commission(request, onStep: onStep)
    var record = DeviceRecord(nodeID: result.nodeID, name: name ?? "")
    record.vendorID = result.information.vendorID
    record.productID = result.information.productID
    record.vendorName = result.information.vendorName
    record.productName = result.information.productName
    record.serialNumber = result.information.serialNumber
    record.endpoints = result.information.endpoints.map {
      .init(id: $0.id, deviceTypes: $0.deviceTypes, servers: [], parts: $0.parts)
    }
    var nodeLabel: String?
    // It is in the fabric already: what can't be read now does not undo that.
    var state: [AttributeData] = []
    if let report = try? await controller.read(result.nodeID, DeviceFacts.paths + DeviceState.paths) {
      DeviceFacts.take(report, into: &record)
      nodeLabel = DeviceFacts.nodeLabel(report)
      state = report.attributes
    }
    let ownNames = [name, nodeLabel, record.productName].compactMap { $0 }
    record.name = ownNames.compactMap { try? HomeRegistry.checked($0) }.first ?? "Device \(result.nodeID.rawValue)"
    record.room = room
    record = try registry.put(record)
    try HomeStore(controller.options.state).save(registry)
    heard(from: record.nodeID, state)
    return PairedDevice(device: record, result: result)
  }

  /// Takes a device out of the fabric and the home. To be called without the home's lock.
  /// - Returns: the device, and whether it was told.
  public static func remove(
    _ text: String, force: Bool, _ options: HomeController.Options
  ) async throws(HomeError) -> (device: DeviceRecord, wasTold: Bool) {
    let lock = try await HomeLock.acquire(options.state)
    var options = options
    options.access = .exclusive
    var registry = try HomeStore(options.state).load()
    let device = try registry.resolve(text).device
    let session = try await HomeSession(options)
    let removed: Result<Bool, HomeError>
    do throws(HomeError) {
      removed = .success(try await session.controller.remove(device.nodeID, force: force))
    } catch {
      // What the fabric does not know, the home need not know either.
      removed = force && error.code == .notFound ? .success(false) : .failure(error.about(device.name))
    }
    if case .success = removed {
      session.forget(device.nodeID)
      registry.remove(device.nodeID)
      try HomeStore(options.state).save(registry)
    }
    await session.close()
    _ = consume lock
    return (device, try removed.get())
  }
}

/// What is kept of a device when it was paired.
enum DeviceFacts {
  static let paths: [AttributePath] = [
    AttributePath(cluster: Descriptor.id),
    AttributePath(endpoint: .root, cluster: BasicInformation.id),
  ]

  static func take(_ report: ReassembledReport, into record: inout DeviceRecord) {
    var endpoints: [EndpointID: DeviceRecord.Endpoint] = [:]
    for attribute in report.attributes where attribute.path.cluster == Descriptor.id {
      let id = attribute.path.endpoint
      var endpoint = endpoints[id] ?? .init(id: id, deviceTypes: [], servers: [])
      switch attribute.path.attribute {
      case Descriptor.deviceTypeList.id:
        endpoint.deviceTypes =
          ((try? [Descriptor.DeviceTypeStruct](tlv: attribute.value)) ?? []).map(\.deviceType)
      case Descriptor.serverList.id: endpoint.servers = (try? [ClusterID](tlv: attribute.value)) ?? []
      case Descriptor.clientList.id: endpoint.clients = (try? [ClusterID](tlv: attribute.value)) ?? []
      case Descriptor.partsList.id: endpoint.parts = (try? [EndpointID](tlv: attribute.value)) ?? []
      default: break
      }
      endpoints[id] = endpoint
    }
    if !endpoints.isEmpty { record.endpoints = endpoints.values.sorted { $0.id < $1.id } }
    func text(_ attribute: MatterModel.Attribute<BasicInformation, String>) -> String? {
      guard let value = report[attribute.path(on: .root)]?.value, let text = try? String(tlv: value) else { return nil }
      return text.isEmpty ? nil : text
    }
    record.uniqueID = text(BasicInformation.uniqueID)
    record.softwareVersion = text(BasicInformation.softwareVersionString)
  }

  static func nodeLabel(_ report: ReassembledReport) -> String? {
    report[BasicInformation.nodeLabel.path(on: .root)].flatMap { try? String(tlv: $0.value) }
  }
}
