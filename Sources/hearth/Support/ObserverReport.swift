import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// Formats an observer as a table row and JSON.
struct ObserverReport {
  private let observer: BackgroundDelivery
  /// The devices of the filter. A removed device has no name.
  private let devices: [(id: String, name: String?)]

  init(_ observer: BackgroundDelivery, _ registry: HomeRegistry) {
    self.observer = observer
    devices = (observer.filter.devices ?? []).sorted().map { id in
      (id, registry.devices.first { $0.id == id }?.fullName)
    }
  }

  /// Creates the filter of an observer.
  /// - Throws: ``HomeError`` if a device or cluster is unknown, or if the filter can't be expressed.
  static func filter(
    _ type: SampleType, _ devices: [String], _ clusters: [String], in registry: HomeRegistry
  ) throws(HomeError) -> SampleFilter {
    var filter = SampleFilter(type)
    let targets = try registry.resolve(all: devices)
    if !targets.isEmpty {
      filter.devices = Set(targets.map(\.device.id))
      let endpoints = Set(targets.map(\.endpoint))
      // A filter matches devices and endpoints independently, so several endpoints would apply to each of the devices.
      guard endpoints.count == 1, let endpoint = endpoints.first else {
        throw HomeError(.badArguments, "an observer can't filter several endpoints; add several observers")
      }
      if let endpoint { filter.endpoints = [endpoint] }
    }
    for text in clusters {
      guard let cluster = try HomeRegistry.cluster(text) else {
        throw HomeError(.badArguments, "--cluster: * is not a cluster; omit the option for all clusters")
      }
      filter.clusters = (filter.clusters ?? []).union([cluster])
    }
    return filter
  }

  private var endpoints: [EndpointID] { (observer.filter.endpoints ?? []).sorted() }
  private var clusters: [String] { (observer.filter.clusters ?? []).sorted().map { ElementNames.cluster($0) } }

  private var filterText: String {
    let parts = devices.map { $0.name ?? "\($0.id) (removed)" } + endpoints.map { "endpoint \($0)" } + clusters
    return parts.isEmpty ? "–" : parts.joined(separator: ", ")
  }

  private var period: Duration? {
    if case .every(let period) = observer.frequency { period } else { nil }
  }

  private var targetText: String {
    switch observer.target {
    case .command(let words): words.map(Self.quoted).joined(separator: " ")
    case .webhook(let address): address
    }
  }

  /// Quotes a word for a shell if necessary.
  private static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:=,+@%".contains($0) }
    return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
  }

  private var stateText: String {
    guard let failure = observer.failure else { return observer.isSuspended ? "suspended" : "active" }
    return (observer.isSuspended ? "suspended: " : "failing: ") + failure
  }

  static func table(_ observers: [ObserverReport], now: Int64) -> String {
    var table = Table("ID", "TYPE", "FILTER", "EVERY", "TARGET", "LAST DELIVERY", "FAILURES", "STATE")
    for one in observers {
      let observer = one.observer
      table.add(
        "\(observer.id)", observer.filter.type.rawValue, one.filterText, one.period.map { TimeSpan.text($0) } ?? "–",
        one.targetText, observer.delivered.map { TimeSpan.ago(milliseconds: now - $0 / 1000) } ?? "never",
        "\(observer.strikes)", one.stateText)
    }
    return table.text
  }

  var json: JSON {
    var object: JSON = [
      "id": .string("\(observer.id)"), "type": .string(observer.filter.type.rawValue),
      "devices": .array(devices.map { ["id": .string($0.id), "name": .optional($0.name)] }),
      "endpoints": .array(endpoints.map { .int($0.rawValue) }), "clusters": .texts(clusters),
      "everyMilliseconds": .optional(period?.milliseconds),
    ]
    switch observer.target {
    case .command(let words): object = object.adding("run", .texts(words))
    case .webhook(let address): object = object.adding("webhook", .string(address))
    }
    return object.adding("anchor", .string("\(observer.anchor)"))
      .adding(
        "lastDelivery", observer.delivered.map { .string(ClockText.iso(milliseconds: $0 / 1000)) } ?? .null
      )
      .adding("strikes", .int(observer.strikes)).adding("suspended", .bool(observer.isSuspended))
      .adding("reason", .optional(observer.failure))
  }
}
