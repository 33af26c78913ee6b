import ClusterLanguage
import Foundation
import Testing

@testable import CatalogueGenerator

@Suite("Generated declarations") struct GeneratedTextTests {
  private static let spinner = """
    # A comment is not generated.
    // Spins things.
    cluster 0xFFF1FC00 Spinner "Spinner" revision 3 diagnostics § Example Book 1.2

    feature 0 FST Fast
    feature 2 SPD Speed [!FST].a+

    attribute 0x0000 Speed   uint16  P,FST&SPD max 100 nullable nonvolatile write manage = 5
    attribute 0x0001 Modes   list[Mode]  [FST] max 4 read administer = empty
    attribute 0x0002 Label   string  2 = "XX"

    command 0x00 Spin -> SpinResponse FST,O invoke manage timed § 1.2.1
      0 Mode Mode = Fast // the mode
      1 CSRNonce octstr O nullable
    response 0x01 SpinResponse
      0 Status status
    command 0x02 SpinAgain Spin&Label>2,desc fields Spin
    event 0x00 Speed critical !SPD read administer fabric-sensitive
      0 Speed uint16
      254 FabricIndex fabric-idx

    // How it spins.
    enum8 Mode § Other Book 7.1
      0 Off
      1 Fast
      2 2Fast as twiceFast
    map16 Alarms inverted
      0-1 Level
      4 Jam
    """

  private static func outputs(_ mode: CatalogueGenerator.Mode) throws -> [String: String] {
    let devices =
      "device 0xFFF10001 \"Spinner/Plug-in\" revision 2 utility\n  server 0x001D, Spinner FST Spin\n  client 0x0029, 0x0506"
    let catalogue = try CatalogueGenerator.parse([("Clusters/Spinner.cluster", spinner), ("T.devices", devices)])
    return try CatalogueGenerator.outputs(of: mode, catalogue)
  }

  @Test func declaresCluster() throws {
    let text = try #require(try Self.outputs(.clusters)["Spinner+Generated.swift"])
    let expected = [
      "/// Spinner (0xFFF1FC00). Spins things. Example Book § 1.2.",
      "name = \"Spinner\"", "public static let quality: Quality = .diagnostics",
      "public static let fast = Feature(0, \"FST\", \"Fast\")",
      // The attribute has the plain name.
      "public static let speedFeature = Feature(2, \"SPD\", \"Speed\", conformance: \"[!FST].a+\")",
      "speed = Attribute<Self, Nullable<UInt16>>(0x0000, \"Speed\", initial: .value(5), quality: .nonVolatile,"
        + " write: .manage, conformance: \"P,FST&SPD\", constraint: .range(0...100))",
      "modes = Attribute<Self, [Mode]>(0x0001, \"Modes\", initial: [], read: .administer, conformance: \"[FST]\", "
        + "constraint: .entries(0...4))",
      "label = Attribute<Self, String>(0x0002, \"Label\", initial: \"XX\", constraint: .length(2...2))",
      "spin = Command<Self, SpinRequest, SpinResponse>(0x00, \"Spin\", response: 0x01, privilege: .manage, "
        + "quality: .timed, conformance: \"FST,O\")",
      "spinAgain = Command<Self, SpinAgainRequest, NoFields>(0x02, \"SpinAgain\", conformance: \"Spin&Label>2,desc\")",
      "public typealias SpinAgainRequest = SpinRequest\n",
      "speedEvent = Event<Self, SpeedEvent>(0x00, \"Speed\", priority: .critical, read: .administer, "
        + "isFabricSensitive: true, conformance: \"!SPD\")",
      "elements: [any ClusterElement] = [speed, modes, label, spin, spinAgain, speedEvent]",
      "  /// Example Book § 1.2.1.\n  public struct SpinRequest: ModelStruct {\n    /// The mode.\n"
        + "    public var mode: Mode = .off\n    public var csrNonce: Nullable<OctetString>?\n",
      "public init(mode: Mode, csrNonce: Nullable<OctetString>? = nil)",
      "public struct SpeedEvent: FabricScoped", ".init(fabricIndex: \\.fabricIndex)",
      "  /// How it spins. Other Book § 7.1.\n  public struct Mode: WireCode {",
      "public static var twiceFast: Self { .init(rawValue: 2) }", "[0: \"Off\", 1: \"Fast\", 2: \"2Fast\"]",
      "public static var level: Self { .init(rawValue: 3) }", "public static var jam: Self { .init(rawValue: 16) }",
      "[0: \"Level\", 1: \"Level\", 4: \"Jam\"]", "public static let isInverted = true",
    ]
    for line in expected { #expect(text.contains(line), "not generated: \(line)\n\(text)") }
    #expect(!text.contains("comment is not"))
  }

  @Test("a cluster has the elements of its base, in the order of their ids") func derivesCluster() throws {
    let base = "attribute 0x0001 Level Grade\nenum8 Grade § 1.1\n  0 Low"
    let cluster = """
      cluster 0xFFF1FC01 Winder "Winder" revision 1 from WinderBase § Example Book
      attribute 0x0000 Turns uint8
      """
    let catalogue = try CatalogueGenerator.parse([("C/WinderBase.base", base), ("C/Winder.cluster", cluster)])
    let text = try #require(
      try CatalogueGenerator.outputs(of: .clusters, catalogue)["Winder+Generated.swift"])
    #expect(text.contains("/// Winder (0xFFF1FC01). Example Book.\npublic enum Winder: Cluster"), "\(text)")
    #expect(text.contains("elements: [any ClusterElement] = [turns, level]"), "\(text)")
    #expect(text.contains("/// Example Book § 1.1.\n  public struct Grade: WireCode"), "\(text)")
    let error = #expect(throws: CatalogueError.self) {
      try CatalogueGenerator.parse([("C/Winder.cluster", cluster)])
    }
    #expect(error?.message.hasPrefix("WinderBase: no such base") == true)
  }

  @Test("a cluster extends, replaces and removes what its base declares") func changesBase() throws {
    let base = """
      attribute 0x0000 Turns uint8
      attribute 0x0001 Grade Grade
      attribute 0x0002 Limit Limits
      command 0x00 Wind -> WindResponse
        0 Turns uint8
      response 0x01 WindResponse
        0 Status status
      enum8 Grade § 1.1
        0 Low
      struct Limits
        0 Lowest uint8
      """
    let cluster = """
      cluster 0xFFF1FC01 Winder "Winder" revision 1 from WinderBase § Example Book
      attribute 0x0000 Turns uint16 O
      attribute 0x0003 Speed uint8 X
      command 0x00 Wind X
      enum8 Grade
        1 High
      struct Limits
        0 Highest uint8
      """
    func text(_ cluster: String) throws -> String {
      let catalogue = try CatalogueGenerator.parse([("C/WinderBase.base", base), ("C/Winder.cluster", cluster)])
      return try #require(try CatalogueGenerator.outputs(of: .clusters, catalogue)["Winder+Generated.swift"])
    }
    let changed = try text(cluster)
    #expect(changed.contains("turns = Attribute<Self, UInt16>(0x0000, \"Turns\", conformance: \"O\")"), "\(changed)")
    #expect(changed.contains("elements: [any ClusterElement] = [turns, grade, limit, speed]"), "\(changed)")
    #expect(changed.contains("[0: \"Low\", 1: \"High\"]") && changed.contains("/// Example Book § 1.1."), "\(changed)")
    #expect(changed.contains("var highest: UInt8") && !changed.contains("lowest"), "\(changed)")
    #expect(!changed.contains("Wind\"") && !changed.contains("WindResponse"), "\(changed)")
    for (type, message) in [
      ("enum8 Grade\n  0 High", "High: its number or name is used twice"),
      ("enum8 Grade\n  1 Low", "Low: its number or name is used twice"),
      ("enum16 Grade\n  1 High", "Grade: is an enum8 in the base; expected the same type"),
      ("enum8 Grade\n  1 High\nenum8 Grade\n  2 Highest", "Grade: two types have this name"),
    ] {
      let head = cluster.prefix { !$0.isNewline }
      let error = #expect(throws: CatalogueError.self) { try text(head + "\n" + type) }
      #expect(error?.message.hasPrefix(message) == true && error?.file == "C/Winder.cluster", "\(error?.message ?? "")")
    }
  }

  @Test("a declaration has the fields of another one before its own") func sharesFields() throws {
    let cluster = """
      cluster 0xFFF1FC01 Winder "Winder" revision 1 § Example Book
      command 0x00 Wind § 1.1
        0 Turns uint8 // quarters of a turn
      command 0x01 Unwind fields Wind
      event 0x00 Wound info fields Wind
        1 Time uint32
      struct Report fields Wound § 1.2
      """
    let catalogue = try CatalogueGenerator.parse([("C/Winder.cluster", cluster)])
    let text = try #require(
      try CatalogueGenerator.outputs(of: .clusters, catalogue)["Winder+Generated.swift"])
    for expected in [
      "unwind = Command<Self, UnwindRequest, NoFields>(0x01, \"Unwind\")",
      "/// Example Book § 1.1.\n  public typealias UnwindRequest = WindRequest\n",
      "public init(turns: UInt8, time: UInt32)", "/// Example Book § 1.2.\n  public typealias Report = WoundEvent\n",
    ] { #expect(text.contains(expected), "\(expected) in \(text)") }
    let commands = try #require(
      try CatalogueGenerator.outputs(of: .traits, catalogue)["TraitCommands+Generated.swift"])
    #expect(
      commands.contains("- Parameter turns: quarters of a turn.\n  public func unwind(turns: UInt8)"), "\(commands)")
  }

  @Test func declaresUnits() throws {
    let cluster = """
      cluster 0xFFF1FC01 Winder "Winder" revision 1 § Example Book
      attribute 0x0000 Time uint16:seconds nullable
      command 0x00 Wind
        0 Time uint8:seconds
        1 Speeds list[uint8]:percent
      """
    let catalogue = try CatalogueGenerator.parse([("C/Winder.cluster", cluster)])
    let outputs = try CatalogueGenerator.outputs(of: .clusters, catalogue)
    #expect(outputs["Winder+Generated.swift"]?.contains("time = Attribute<Self, Nullable<UInt16>>") == true)
    let units = try #require(outputs["Units+Generated.swift"])
    let expected = "    (0xFFF1FC01, \"Time\", .seconds),\n    (0xFFF1FC01, \"Speeds\", .percent),\n  ]\n"
    #expect(units.contains(expected), "\(units)")
    #expect(units.contains("  case \(TypeReference.units.joined(separator: ", "))\n"), "\(units)")
  }

  @Test func declaresDeviceTypes() throws {
    let text = try #require(try Self.outputs(.clusters)["DeviceTypes+Generated.swift"])
    let type =
      "spinnerPlugIn = DeviceType(\n    0xFFF10001, revision: 2, name: \"Spinner/Plug-in\", deviceClass: .utility, "
      + "servers: [0x001D, Spinner.id], clients: [0x0029, 0x0506],\n    elements: [Spinner.id: [\"FST\", \"Spin\"]])"
    #expect(text.contains(type), "\(text)")
  }

  @Test func declaresTraits() throws {
    let outputs = try Self.outputs(.traits)
    let names = try #require(outputs["TraitNames+Generated.swift"])
    #expect(names.contains("public var spinnerTrait: SpinnerTrait? { traits[SpinnerTrait.self] }"))
    let type = """
      /// Spinner/Plug-in.
      public struct SpinnerPlugInDeviceType: HomeDeviceType {
        public static var deviceTypeID: DeviceTypeID { 0xFFF10001 }
        public static var deviceType: DeviceType { DeviceTypes.spinnerPlugIn }
      """
    #expect(names.contains(type), "\(names)")
    let features = "extension FeatureMap where C == Spinner {\n  /// Fast.\n  public static var fast: Self "
    #expect(names.contains(features + "{ .init(rawValue: 0x01) }\n  /// Speed.\n"), "\(names)")
    let commands = try #require(outputs["TraitCommands+Generated.swift"])
    let method = """
        /// Example Book § 1.2.1.
        /// - Parameter mode: the mode.
        @discardableResult
        public func spin(mode: Spinner.Mode = Spinner.Mode.fast, csrNonce: OctetString? = nil) async throws(HomeError) \
      -> Spinner.SpinResponse {
          try await invoke(Spinner.spin, .init(mode: mode, csrNonce: csrNonce.map { .value($0) }))
        }
      """
    #expect(commands.contains(method), "\(commands)")
    #expect(commands.contains("public func spinAgain(mode:"))
  }

  @Test func setsOptionalFieldsAndAttributes() throws {
    let commands = try #require(try Self.outputs(.traits)["TraitCommands+Generated.swift"])
    let method = """
        public func spin(mode: Spinner.Mode = Spinner.Mode.fast, _ setOptionalFields: (inout Spinner.SpinRequest) -> Void) \
      async throws(HomeError) -> Spinner.SpinResponse {
          try await invoke(Spinner.spin, modified(Spinner.SpinRequest(mode: mode), setOptionalFields))
        }
      """
    #expect(commands.contains(method), "\(commands)")
    let setters = [
      "extension TraitUpdate where C == Spinner {\n",
      "public mutating func setSpeed(_ value: UInt16?) { self[Spinner.speed] = Nullable(value) }\n}\n",
      "extension Spinner.SpinRequest {\n",
      "func setCsrNonce(_ value: some Sequence<UInt8>) { csrNonce = Nullable(OctetString(Array(value))) }\n}\n",
    ]
    for text in setters { #expect(commands.contains(text), "\(text) in \(commands)") }
  }

  @Test func namesTraitOfEachCluster() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/MatterClusters/Clusters")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "cluster" || $0.pathExtension == "base" }.map {
        ($0.path, try String(contentsOf: $0, encoding: .utf8))
      }
    let catalogue = try CatalogueGenerator.parse(files)
    #expect(catalogue.clusters.count >= 115)
    let traits = TraitWriter.names(catalogue)
    for cluster in catalogue.clusters {
      let property = Names.camelCase(cluster.name) + "Trait"
      #expect(traits.contains("public var \(property): \(cluster.name)Trait? { traits[\(cluster.name)Trait.self] }"))
    }
  }
}
