internal import CAvahi
internal import MatterProtocol
internal import NIOCore

/// Constants of libavahi, which Swift imports as `Int`.
enum AvahiNumber {
  static let anyInterface = CInt(AVAHI_IF_UNSPEC)
  static let anyProtocol = CInt(AVAHI_PROTO_UNSPEC)
  static let ipv4 = CInt(AVAHI_PROTO_INET)
  static let ipv6 = CInt(AVAHI_PROTO_INET6)
  static let collision = CInt(AVAHI_ERR_COLLISION)
  static let disconnected = CInt(AVAHI_ERR_DISCONNECTED)
  static let tooManyObjects = CInt(AVAHI_ERR_TOO_MANY_OBJECTS)
  /// The class IN.
  static let internet: UInt16 = 1
}

/// The records of one name and type, as the daemon reports them. Confined to its event loop.
final class AvahiRecords {
  private struct Record: Equatable {
    let interface: InterfaceID
    let isIPv6: Bool
    let data: DNSRecordData
  }

  private var object: AvahiDaemon.Object?
  private let type: DNSType
  private let onChange: () -> Void
  /// Ordered by arrival, the newest last.
  private var known: [Record] = []

  /// - Parameter onChange: called from inside the library.
  init(
    _ name: String, _ type: DNSType, _ daemon: AvahiDaemon, _ onChange: @escaping () -> Void
  ) throws(AvahiFailure) {
    self.type = type
    self.onChange = onChange
    object = try daemon.object(
      { client in
        avahi_record_browser_new(
          client, AvahiNumber.anyInterface, AvahiNumber.anyProtocol, name, AvahiNumber.internet, type.rawValue,
          AvahiLookupFlags(0),
          { _, interface, family, event, _, _, _, bytes, count, _, data in
            guard let data, let bytes else { return }
            let records = Unmanaged<AvahiRecords>.fromOpaque(data).takeUnretainedValue()
            let wire = [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
            records.handle(event, InterfaceID(UInt32(max(0, interface))), isIPv6: family == AvahiNumber.ipv6, wire)
          }, Unmanaged.passUnretained(self).toOpaque())
      }, free: { avahi_record_browser_free($0) })
  }

  private func handle(_ event: AvahiBrowserEvent, _ interface: InterfaceID, isIPv6: Bool, _ wire: [UInt8]) {
    guard let data = try? DNSRecordData(type, wire: wire) else { return }
    let record = Record(interface: interface, isIPv6: isIPv6, data: data)
    switch event {
    case AVAHI_BROWSER_NEW:
      known.removeAll { $0 == record }
      if known.count < 64 { known.append(record) }
    case AVAHI_BROWSER_REMOVE: known.removeAll { $0 == record }
    default: return
    }
    onChange()
  }

  var interfaces: Set<InterfaceID> { Set(known.map(\.interface)) }

  /// Returns the distinct records on an interface, the newest last.
  func data(on interface: InterfaceID) -> [DNSRecordData] {
    var result: [DNSRecordData] = []
    for record in known where record.interface == interface {
      result.removeAll { $0 == record.data }
      result.append(record.data)
    }
    return result
  }

  /// Stops the query. Must not be called from inside the library, nor after the daemon has stopped.
  func stop() {
    object?.remove()
    object = nil
  }
}

/// All instances of a type or subtype, as the daemon reports them. Confined to its event loop.
final class AvahiInstances {
  private var object: AvahiDaemon.Object?
  private let type: String
  private let onChange: () -> Void
  private var known: [MatterService.Kind: Set<Source>] = [:]

  private struct Source: Hashable {
    let interface: InterfaceID
    let isIPv6: Bool
  }

  private static let limit = 4096

  /// - Parameters:
  ///   - type: the service type without its domain.
  ///   - onChange: called from inside the library.
  init(_ type: String, _ daemon: AvahiDaemon, _ onChange: @escaping () -> Void) throws(AvahiFailure) {
    self.type = type
    self.onChange = onChange
    object = try daemon.object(
      { client in
        avahi_service_browser_new(
          client, AvahiNumber.anyInterface, AvahiNumber.anyProtocol, type, "local", AvahiLookupFlags(0),
          { _, interface, family, event, name, _, _, _, data in
            guard let data, let name else { return }
            let instances = Unmanaged<AvahiInstances>.fromOpaque(data).takeUnretainedValue()
            let source = Source(
              interface: InterfaceID(UInt32(max(0, interface))), isIPv6: family == AvahiNumber.ipv6)
            instances.handle(event, source, String(cString: name))
          }, Unmanaged.passUnretained(self).toOpaque())
      }, free: { avahi_service_browser_free($0) })
  }

  private func handle(_ event: AvahiBrowserEvent, _ source: Source, _ label: String) {
    guard let kind = MatterService.Kind(instanceLabel: label, type: type) else { return }
    switch event {
    case AVAHI_BROWSER_NEW:
      guard known[kind] != nil || known.count < Self.limit else { return }
      known[kind, default: []].insert(source)
    case AVAHI_BROWSER_REMOVE:
      known[kind]?.remove(source)
      if known[kind]?.isEmpty ?? false { known[kind] = nil }
    default: return
    }
    onChange()
  }

  var kinds: Set<MatterService.Kind> { Set(known.keys) }

  /// Returns the interfaces with a PTR record for an instance.
  func interfaces(of kind: MatterService.Kind) -> Set<InterfaceID> { Set((known[kind] ?? []).map(\.interface)) }

  func stop() {
    object?.remove()
    object = nil
  }
}
