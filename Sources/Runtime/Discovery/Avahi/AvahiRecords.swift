internal import CAvahi
internal import MatterProtocol
internal import NIOCore

/// Numbers of libavahi, which Swift sees as plain `Int`.
enum AvahiNumber {
  static let anyInterface = CInt(AVAHI_IF_UNSPEC)
  static let anyProtocol = CInt(AVAHI_PROTO_UNSPEC)
  static let ipv4 = CInt(AVAHI_PROTO_INET)
  static let ipv6 = CInt(AVAHI_PROTO_INET6)
  static let collision = CInt(AVAHI_ERR_COLLISION)
  static let disconnected = CInt(AVAHI_ERR_DISCONNECTED)
  static let tooManyObjects = CInt(AVAHI_ERR_TOO_MANY_OBJECTS)
  /// IN.
  static let internet: UInt16 = 1
}

/// Follows the records of one name and type, as the daemon hears them. Confined to its event loop.
final class AvahiRecords {
  /// A record as it was heard.
  private struct Heard: Equatable {
    let interface: InterfaceID
    let isIPv6: Bool
    let data: DNSRecordData
  }

  private var object: AvahiDaemon.Object?
  private let type: DNSType
  private let onChange: () -> Void
  /// The newest last.
  private var heard: [Heard] = []

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
            records.take(event, InterfaceID(UInt32(max(0, interface))), isIPv6: family == AvahiNumber.ipv6, wire)
          }, Unmanaged.passUnretained(self).toOpaque())
      }, free: { avahi_record_browser_free($0) })
  }

  private func take(_ event: AvahiBrowserEvent, _ interface: InterfaceID, isIPv6: Bool, _ wire: [UInt8]) {
    guard let data = try? DNSRecordData(type, wire: wire) else { return }
    let record = Heard(interface: interface, isIPv6: isIPv6, data: data)
    switch event {
    case AVAHI_BROWSER_NEW:
      heard.removeAll { $0 == record }
      if heard.count < 64 { heard.append(record) }
    case AVAHI_BROWSER_REMOVE: heard.removeAll { $0 == record }
    default: return
    }
    onChange()
  }

  var interfaces: Set<InterfaceID> { Set(heard.map(\.interface)) }

  /// What was heard on an interface, none twice, the newest last.
  func data(on interface: InterfaceID) -> [DNSRecordData] {
    var result: [DNSRecordData] = []
    for record in heard where record.interface == interface {
      result.removeAll { $0 == record.data }
      result.append(record.data)
    }
    return result
  }

  /// Not to be called from inside the library, nor when the daemon is gone.
  func stop() {
    object?.remove()
    object = nil
  }
}

/// All the instances of a type or subtype, as the daemon hears them. Confined to its event loop.
final class AvahiInstances {
  private var object: AvahiDaemon.Object?
  private let type: String
  private let onChange: () -> Void
  private var heard: [MatterService.Kind: Set<Place>] = [:]

  private struct Place: Hashable {
    let interface: InterfaceID
    let isIPv6: Bool
  }

  private static let limit = 4096

  /// - Parameters:
  ///   - type: without its domain.
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
            let place = Place(
              interface: InterfaceID(UInt32(max(0, interface))), isIPv6: family == AvahiNumber.ipv6)
            instances.take(event, place, String(cString: name))
          }, Unmanaged.passUnretained(self).toOpaque())
      }, free: { avahi_service_browser_free($0) })
  }

  private func take(_ event: AvahiBrowserEvent, _ place: Place, _ label: String) {
    guard let kind = MatterService.Kind(instanceLabel: label, type: type) else { return }
    switch event {
    case AVAHI_BROWSER_NEW:
      guard heard[kind] != nil || heard.count < Self.limit else { return }
      heard[kind, default: []].insert(place)
    case AVAHI_BROWSER_REMOVE:
      heard[kind]?.remove(place)
      if heard[kind]?.isEmpty ?? false { heard[kind] = nil }
    default: return
    }
    onChange()
  }

  var kinds: Set<MatterService.Kind> { Set(heard.keys) }

  /// The interfaces that point to an instance.
  func interfaces(of kind: MatterService.Kind) -> Set<InterfaceID> { Set((heard[kind] ?? []).map(\.interface)) }

  func stop() {
    object?.remove()
    object = nil
  }
}
