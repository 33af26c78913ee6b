internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

extension RootNode {
  /// Matter Core § 11.1.
  static func basicInformation(_ configuration: DeviceConfiguration) -> ClusterServer {
    let server =
      commonInformation
      .initial(
        BasicInformation.dataModelRevision,
        configuration.parameters.dataModelRevision ?? SpecificationVersion.dataModelRevision
      )
      .initial(BasicInformation.vendorName, configuration.vendorName)
      .initial(BasicInformation.vendorID, configuration.vendorID)
      .initial(BasicInformation.productName, configuration.productName)
      .initial(BasicInformation.productID, configuration.productID)
      .initial(BasicInformation.nodeLabel, configuration.nodeLabel)
      .initial(BasicInformation.hardwareVersion, configuration.hardwareVersion)
      .initial(BasicInformation.hardwareVersionString, configuration.hardwareVersionString)
      .initial(BasicInformation.softwareVersion, configuration.softwareVersion)
      .initial(BasicInformation.softwareVersionString, configuration.softwareVersionString)
      .initial(BasicInformation.serialNumber, configuration.serialNumber)
      .initial(BasicInformation.uniqueID, configuration.uniqueID)
      .initial(
        BasicInformation.specificationVersion,
        configuration.parameters.specificationVersion ?? SpecificationVersion.current
      )
      .initial(BasicInformation.maxPathsPerInvoke, configuration.parameters.maximumPathsPerInvoke)
    return configuration.servesProvisional ? server.initial(BasicInformation.configurationVersion, 1) : server
  }

  private static let commonInformation = ClusterServer(BasicInformation.self)
    .initial(BasicInformation.localConfigDisabled, false)
    .initial(
      BasicInformation.capabilityMinima,
      .init(caseSessionsPerFabric: 3, subscriptionsPerFabric: SubscriptionLimits.promisedPerFabric)
    )
    // Initial values follow for each device.
    .serving(
      BasicInformation.serialNumber, BasicInformation.uniqueID, BasicInformation.shutDown, BasicInformation.leave
    )
    .onStart { context in
      context.emit(
        BasicInformation.startUp, .init(softwareVersion: context[BasicInformation.softwareVersion]))
    }
}
