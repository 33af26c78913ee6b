internal import MatterClusters
internal import MatterModel

/// The endpoint that describes the node itself. Device Library § 2.1.
enum RootNode {
  /// The endpoints with all that the engine adds: the root's servers, and a Descriptor on each.
  static func complete(_ given: [EndpointDefinition], _ configuration: DeviceConfiguration) -> [EndpointDefinition] {
    var root = given.first { $0.id == .root } ?? EndpointDefinition(.root, deviceTypes: [], servers: [])
    if !root.deviceTypes.contains(where: { $0.id == DeviceTypes.rootNode.id }) {
      root.deviceTypes.insert(DeviceTypes.rootNode, at: 0)
    }
    // What was given comes first: it wins over ours.
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

  private static func servers(_ configuration: DeviceConfiguration) -> [ClusterServer] {
    // Without a label there is nothing to serve.
    let labels = configuration.fixedLabels.isEmpty ? [] : [FixedLabelServer.make(configuration.fixedLabels)]
    return [
      accessControl, basicInformation(configuration), generalCommissioning, networkCommissioning(configuration),
      generalDiagnostics(configuration), administratorCommissioning(configuration),
      operationalCredentials(configuration), groupKeyManagement, localizationConfiguration, timeFormatLocalization,
      unitLocalization(configuration), UserLabelServer.make(), ethernetDiagnostics, TimeSynchronizationServer.make(),
    ] + labels
  }

  /// Matter Core § 9.5.
  private static func descriptor(_ endpoint: EndpointDefinition) -> ClusterServer {
    let server = ClusterServer(Descriptor.self, features: endpoint.tags.isEmpty ? [] : [Descriptor.tagListFeature])
      .initial(
        Descriptor.deviceTypeList, endpoint.deviceTypes.map { .init(deviceType: $0.id, revision: $0.revision) }
      )
      .initial(Descriptor.serverList, (endpoint.servers.map(\.id) + [Descriptor.id]).sorted())
      .initial(Descriptor.clientList, endpoint.clients.sorted())
      .initial(Descriptor.partsList, endpoint.parts)
    return endpoint.tags.isEmpty ? server : server.initial(Descriptor.tagList, endpoint.tags)
  }
}
