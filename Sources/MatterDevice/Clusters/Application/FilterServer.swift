import MatterClusters
import MatterModel
import MatterProtocol

/// The servers of filters whose condition falls with the air that passes through them. Application Clusters § 2.8.
public enum FilterServer {
  static let hepaAirflow = ServerHook<HepaFilterMonitoring, UInt8>("airflow")
  static let carbonAirflow = ServerHook<ActivatedCarbonFilterMonitoring, UInt8>("airflow")

  /// Returns the server of a HEPA filter.
  /// - Parameter lifetime: The time for which a new filter lasts at full airflow.
  public static func hepa(lifetime: Duration) -> ClusterServer {
    make(HepaFilterMonitoring.self, hepaAirflow, lifetime, product: "HEARTH-HEPA")
  }

  /// Returns the server of an activated carbon filter.
  /// - Parameter lifetime: The time for which a new filter lasts at full airflow.
  public static func carbon(lifetime: Duration) -> ClusterServer {
    make(ActivatedCarbonFilterMonitoring.self, carbonAirflow, lifetime, product: "HEARTH-CARBON")
  }

  /// The condition in percent from which the filter should be replaced soon.
  private static let warning = 10
  /// The key of the stored use.
  private static let usedKey = "used"

  private static func make<C: FilterCluster>(
    _: C.Type, _ airflow: ServerHook<C, UInt8>, _ lifetime: Duration, product: String
  ) -> ClusterServer {
    // OEM is the type 4 of a product identifier.
    var replacement = C.ReplacementProductStruct()
    replacement.productIdentifierType = C.ProductIdentifierType(rawValue: 4)
    replacement.productIdentifierValue = product
    return ClusterServer(C.self, features: C.features)
      .initial(C.condition, 100)
      .initial(C.degradationDirection, C.DegradationDirection(rawValue: 1))
      .initial(C.inPlaceIndicator, true)
      .initial(C.replacementProductList, [replacement])
      .storing(C.inPlaceIndicator)
      .serving(C.lastChangedTime)
      .deriving(C.changeIndication)
      .onStart { context in
        let stored = context[stored: usedKey].flatMap { try? Int64(tlv: $0) }.map { Duration.nanoseconds($0) }
        var wear = FilterWear(lifetime: lifetime, at: context.now)
        if let stored { wear.use(stored) } else { wear.set(condition: Int(context[C.condition])) }
        // The fan starts before or after the filter.
        wear.airflow = context.value(FanControl.percentCurrent).map { Int($0) } ?? 0
        update(C.self, wear, &context)
      }
      .hook(airflow) { context, percent in change(C.self, &context) { $0.airflow = Int(percent) } }
      .onChange(C.inPlaceIndicator) { context in
        let percent = context.value(FanControl.percentCurrent).map { Int($0) } ?? 0
        change(C.self, &context) { $0.airflow = percent }
      }
      .onAct(C.condition) { context, condition in change(C.self, &context) { $0.set(condition: Int(condition)) } }
      .onTimer(.tick) { context in change(C.self, &context) { _ in } }
      .on(C.resetCondition) { context, _ throws(StatusError) in
        change(C.self, &context) { $0.set(condition: 100) }
        context[C.lastChangedTime] = Nullable(context.epochSeconds)
      }
  }

  private static func change<C: FilterCluster>(
    _: C.Type, _ context: inout ServerContext, _ body: (inout FilterWear) -> Void
  ) {
    // Before the start of the filter there is nothing to change.
    guard var wear = context[scratch: FilterWear.self] else { return }
    wear.advance(to: context.now)
    body(&wear)
    update(C.self, wear, &context)
  }

  private static func update<C: FilterCluster>(_: C.Type, _ wear: FilterWear, _ context: inout ServerContext) {
    var wear = wear
    // Air doesn't pass through a filter that was taken out.
    if !context[C.inPlaceIndicator] { wear.airflow = 0 }
    context[scratch: FilterWear.self] = wear
    context[stored: usedKey] = wear.used.nanoseconds.tlv
    context[C.condition] = UInt8(clamping: wear.condition)
    context[C.changeIndication] = C.ChangeIndication(
      rawValue: wear.condition == 0 ? 2 : wear.condition <= warning ? 1 : 0)
    if let next = wear.nextChange { context.schedule(.tick, at: next) } else { context.cancel(.tick) }
  }
}

/// The use of a filter: a value without a clock, which is advanced to a time.
struct FilterWear: Hashable, Sendable {
  /// The use after which the condition is one percent lower.
  private let percent: Int64
  private var time: Instant
  /// The time of use at full airflow.
  private(set) var used = Duration.zero
  /// The present airflow, 0 to 100 percent.
  var airflow = 0

  /// Creates a new filter.
  /// - Parameter lifetime: The time for which it lasts at full airflow.
  init(lifetime: Duration, at time: Instant) {
    percent = max(1, lifetime.nanoseconds / 100)
    self.time = time
  }

  /// Uses the filter until a time, which is not before that of the last call.
  mutating func advance(to now: Instant) {
    if now > time { use(.nanoseconds((now - time).nanoseconds / 100 * Int64(airflow))) }
    time = max(time, now)
  }

  /// Uses the filter for a time at full airflow.
  mutating func use(_ time: Duration) {
    used = .nanoseconds(min(used.nanoseconds.saturatingAdd(time.nanoseconds), 100 * percent))
  }

  /// Sets the use to that of a filter in this condition.
  mutating func set(condition: Int) { used = .nanoseconds(Int64(100 - max(0, min(100, condition))) * percent) }

  /// 100 percent for a new filter, 0 for one at the end of its life.
  var condition: Int { 100 - Int(used.nanoseconds / percent) }

  /// The time of the next change of the condition; nil if it does not change.
  var nextChange: Instant? {
    guard airflow > 0, condition > 0 else { return nil }
    let rest = percent - used.nanoseconds % percent
    return time + .nanoseconds((rest / Int64(airflow) + 1) * 100)
  }
}

/// The clusters that derive from Resource Monitoring and are declared alike.
protocol FilterCluster: Cluster {
  associatedtype DegradationDirection: WireCode where DegradationDirection.RawValue == UInt8
  associatedtype ChangeIndication: WireCode where ChangeIndication.RawValue == UInt8
  associatedtype ProductIdentifierType: WireCode where ProductIdentifierType.RawValue == UInt8
  associatedtype ReplacementProductStruct: FilterProduct where ReplacementProductStruct.Kind == ProductIdentifierType
  static var condition: Attribute<Self, UInt8> { get }
  static var degradationDirection: Attribute<Self, DegradationDirection> { get }
  static var changeIndication: Attribute<Self, ChangeIndication> { get }
  static var inPlaceIndicator: Attribute<Self, Bool> { get }
  static var lastChangedTime: Attribute<Self, Nullable<UInt32>> { get }
  static var replacementProductList: Attribute<Self, [ReplacementProductStruct]> { get }
  static var resetCondition: Command<Self, NoFields, NoFields> { get }
}

protocol FilterProduct: ModelStruct {
  associatedtype Kind
  init()
  var productIdentifierType: Kind { get set }
  var productIdentifierValue: String { get set }
}

extension HepaFilterMonitoring.ReplacementProductStruct: FilterProduct {}
extension ActivatedCarbonFilterMonitoring.ReplacementProductStruct: FilterProduct {}
extension HepaFilterMonitoring: FilterCluster {}
extension ActivatedCarbonFilterMonitoring: FilterCluster {}
