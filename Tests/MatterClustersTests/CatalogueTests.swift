import ClusterLanguage
import MatterClusters
import MatterModel
import MatterTLV
import Testing

struct CatalogueTests {
  @Test func usesUniqueIDsAndNames() {
    #expect(Set(ClusterCatalogue.standard.map { $0.id }).count == ClusterCatalogue.standard.count)
    #expect(Set(ClusterCatalogue.standard.map { NormalizedName($0.name) }).count == ClusterCatalogue.standard.count)
    #expect(ClusterCatalogue.standard.map { $0.id } == ClusterCatalogue.standard.map { $0.id }.sorted())
  }

  @Test func findsElementsByNameAndNumber() {
    for name in ["LevelControl", "level control", "levelControl", "8", "0x0008"] {
      #expect(ClusterCatalogue.cluster(named: name)?.id == LevelControl.id, "\(name)")
    }
    #expect(ClusterCatalogue.cluster(0xFFF1_FC00) == nil && ClusterCatalogue.cluster(named: "Toaster") == nil)
    guard let cluster = ClusterCatalogue.cluster(LevelControl.id) else {
      Issue.record("Level Control is missing")
      return
    }
    #expect(cluster.attribute(named: "currentlevel")?.id == 0 && cluster.attribute(named: "0x4000")?.id == 0x4000)
    #expect(cluster.attribute(named: "featureMap")?.schema == .unsigned(bits: 32))
    #expect(cluster.attribute(GlobalAttribute.clusterRevision)?.initial == UInt16(6).tlv)
    #expect(
      cluster.command(named: "moveToLevelWithOnOff")?.id == 4 && cluster.command(4)?.name == "MoveToLevelWithOnOff")
    #expect(BasicInformation.event(named: "startup")?.id == 0 && BasicInformation.event(99) == nil)
  }

  /// The definitions of the Matter SDK have earlier revisions, or later ones, of these clusters.
  @Test(
    "has the revisions of Matter 1.4.2",
    arguments: [
      (OperationalState.self, 3), (OvenCavityOperationalState.self, 2), (RvcOperationalState.self, 3),
      (DishwasherMode.self, 3), (LaundryWasherMode.self, 3), (MicrowaveOvenMode.self, 2), (OvenMode.self, 2),
      (RefrigeratorAndTemperatureControlledCabinetMode.self, 3), (RvcCleanMode.self, 4), (RvcRunMode.self, 3),
      (LaundryWasherControls.self, 2), (ValveConfigurationAndControl.self, 1), (ElectricalEnergyMeasurement.self, 1),
      (ApplicationLauncher.self, 2), (ContentLauncher.self, 2), (DoorLock.self, 9), (PowerSource.self, 3),
    ] as [(any Cluster.Type, UInt16)])
  func revision(_ cluster: any Cluster.Type, _ revision: UInt16) {
    #expect(cluster.attribute(GlobalAttribute.clusterRevision)?.initial == revision.tlv)
  }

  @Test func declaresConsistentClusters() {
    for cluster in ClusterCatalogue.standard {
      let name = cluster.name
      #expect(Set(cluster.allAttributes.map(\.id)).count == cluster.allAttributes.count, "\(name): attribute ids")
      #expect(
        Set(cluster.allAttributes.map { NormalizedName($0.name) }).count == cluster.allAttributes.count, "\(name)")
      #expect(Set(cluster.commands.map(\.id)).count == cluster.commands.count, "\(name): command ids")
      #expect(Set(cluster.events.map(\.id)).count == cluster.events.count, "\(name): event ids")
      #expect(Set(cluster.features.map(\.bit)).count == cluster.features.count, "\(name): feature bits")
      #expect(Set(cluster.features.map(\.code)).count == cluster.features.count, "\(name): feature codes")
      // All uses of a response id have the same fields.
      var shapes: [CommandID: Schema] = [:]
      for response in cluster.commands.compactMap(\.response) {
        #expect(shapes.updateValue(response.schema, forKey: response.id) ?? response.schema == response.schema)
      }
      check(structures: cluster)
    }
  }

  private func check(structures cluster: any Cluster.Type) {
    func check(_ schema: Schema, _ path: String) {
      switch schema {
      case .list(let inner), .nullable(let inner): check(inner, path)
      case .structure(let members):
        #expect(Set(members.map(\.id)).count == members.count, "\(path): field numbers")
        #expect(Set(members.map { NormalizedName($0.name) }).count == members.count, "\(path): field names")
        for member in members { check(member.schema, path + "." + member.name) }
      case .bitmap(let bits, let names, _):
        #expect(names.keys.allSatisfy { (0..<bits).contains($0) }, "\(path): bits")
      case .enumeration(let bits, let names):
        #expect(names.keys.allSatisfy { bits == 64 || $0 >> UInt64(bits) == 0 }, "\(path): values")
        #expect(Set(names.values.map { NormalizedName($0) }).count == names.count, "\(path): names of values")
      default: break
      }
    }
    for attribute in cluster.attributes { check(attribute.schema, "\(cluster.name).\(attribute.name)") }
    for event in cluster.events { check(event.payload, "\(cluster.name).\(event.name)") }
    for command in cluster.commands {
      check(command.request, "\(cluster.name).\(command.name)")
      if let response = command.response { check(response.schema, "\(cluster.name).\(command.name) response") }
    }
  }

  @Test func declaresValidInitialValues() {
    for cluster in ClusterCatalogue.standard {
      for attribute in cluster.attributes {
        guard let initial = attribute.initial else { continue }
        #expect(attribute.isWellFormed(initial), "\(cluster.name).\(attribute.name)")
        #expect(
          attribute.constraint.allows(initial),
          "\(cluster.name).\(attribute.name) starts as \(attribute.schema.text(of: initial)), which violates its constraint"
        )
      }
    }
  }

  /// The generator checks the expressions; an error would end the process at the first use.
  @Test func declaresConformance() throws {
    for cluster in ClusterCatalogue.standard {
      for feature in cluster.features { _ = try Conformance(feature.conformance, features: cluster.features) }
      let texts = cluster.attributes.map(\.conformance.text) + cluster.commands.map(\.conformance.text)
      for text in texts + cluster.events.map(\.conformance.text) {
        #expect(!text.isEmpty && !text.contains(" "), "\(cluster.name): \(text)")
      }
    }
    let window = WindowCovering.currentPositionLiftPercentage.details.conformance
    #expect(window.decision(ConformanceFacts(features: 0b0101)).requirement == .optional)
    #expect(window.decision(ConformanceFacts(features: 0b0001)).requirement == .notAllowed)
  }

  @Test func knowsUnitsOfCatalogue() {
    #expect(TypeReference.units == ValueUnit.allCases.map { "\($0)" })
  }

  @Test func deviceTypes() {
    #expect(Set(DeviceTypes.all.map(\.id)).count == DeviceTypes.all.count)
    #expect(Set(DeviceTypes.all.map { NormalizedName($0.name) }).count == DeviceTypes.all.count)
    #expect(DeviceTypes.named("on/off light") == DeviceTypes.onOffLight)
    #expect(DeviceTypes.named(0x0101) == DeviceTypes.dimmableLight)
    #expect(DeviceTypes.onOffPlugInUnit.revision == 4 && DeviceTypes.onOffLight.revision == 3)
    #expect(
      DeviceTypes.dimmableLight.servers == [Identify.id, Groups.id, ScenesManagement.id, OnOff.id, LevelControl.id])
    #expect(DeviceTypes.rootNode.servers.contains(GeneralDiagnostics.id))
    #expect(DeviceTypes.named("doorbell")?.id == 0x0148 && DeviceTypes.doorbell.clients == [Chime.id])
  }
}
