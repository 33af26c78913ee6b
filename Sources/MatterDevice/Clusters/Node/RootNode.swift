internal import MatterClusters
internal import MatterModel

/// The root node endpoint. Device Library § 2.1.
enum RootNode {
  /// Returns the endpoints with the servers that the engine adds: those of the root, and a Descriptor on each endpoint.
  static func complete(_ given: [EndpointDefinition], _ configuration: DeviceConfiguration) -> [EndpointDefinition] {
    var root = given.first { $0.id == .root } ?? EndpointDefinition(.root, deviceTypes: [], servers: [])
    if !root.deviceTypes.contains(where: { $0.id == DeviceTypes.rootNode.id }) {
      root.deviceTypes.insert(DeviceTypes.rootNode, at: 0)
    }
    if !root.deviceTypes.contains(where: { $0.id == DeviceTypes.otaRequestor.id }) {
      root.deviceTypes.append(DeviceTypes.otaRequestor)
    }
    root.clients += DeviceTypes.otaRequestor.clients.filter { !root.clients.contains($0) }
    // A server that the caller passed takes precedence.
    root.servers += servers(configuration).filter { ours in !root.servers.contains { $0.id == ours.id } }
    let others = given.filter { $0.id != .root }
    root.parts = others.map(\.id).sorted()
    return ([root] + others).map { endpoint in
      var endpoint = endpoint
      if !endpoint.servers.contains(where: { $0.id == Descriptor.id }) {
        endpoint.servers.append(descriptor(endpoint))
      }
      return endpoint
    }
  }

  fileprivate static func servers(_ configuration: DeviceConfiguration) -> [ClusterServer] {
    // Fixed Label is only served if there are labels.
    let labels = configuration.fixedLabels.isEmpty ? [] : [FixedLabelServer.make(configuration.fixedLabels)]
    return [
      accessControl, basicInformation(configuration), generalCommissioning, networkCommissioning(configuration),
      generalDiagnostics(configuration), administratorCommissioning,
      operationalCredentials, groupKeyManagement, localizationConfiguration, timeFormatLocalization,
      unitLocalization(configuration), UserLabelServer.make(), ethernetDiagnostics, TimeSynchronizationServer.make(),
      SoftwareUpdateServer.server,
    ] + labels
  }

  /// Matter Core § 9.5.
  private static func descriptor(_ endpoint: EndpointDefinition) -> ClusterServer {
    let server = ClusterServer.shared(
      Descriptor.self, features: endpoint.tags.isEmpty ? [] : [Descriptor.tagListFeature]
    ) { $0 }
    .initial(
      Descriptor.deviceTypeList, endpoint.deviceTypes.map { .init(deviceType: $0.id, revision: $0.revision) }
    )
    .initial(Descriptor.serverList, (endpoint.servers.map(\.id) + [Descriptor.id]).sorted())
    .initial(Descriptor.clientList, endpoint.clients.sorted())
    .initial(Descriptor.partsList, endpoint.parts)
    return endpoint.tags.isEmpty ? server : server.initial(Descriptor.tagList, endpoint.tags)
  }
}

extension DeviceConfiguration {
  /// The servers that the engine adds to the root endpoint, except Descriptor.
  package var rootServers: [ClusterServer] { RootNode.servers(self) }
}
