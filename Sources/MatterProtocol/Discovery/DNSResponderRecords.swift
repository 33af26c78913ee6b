// The records of the responder, and the selection of answers.

extension DNSResponder {
  /// The TTL of records that depend on a host, in seconds. RFC 6762 § 10.
  static let hostTTL: UInt32 = 120
  /// The TTL of all other records, in seconds.
  static let otherTTL: UInt32 = 4500
  /// The maximum TTL for a plain DNS resolver, in seconds. RFC 6762 § 6.7.
  static let legacyTTL: UInt32 = 10

  /// Returns the addresses of a host on an interface, without duplicates.
  func addresses(of hosted: [Published], on interface: InterfaceID) -> [IPAddress] {
    var seen: Set<IPAddress> = []
    var result: [IPAddress] = []
    // Services of one host usually share the addresses of the interface, which are added once.
    var addedInterface = false
    for service in hosted {
      if service.service.addresses.isEmpty && addedInterface { continue }
      let own = service.service.addresses
      if own.isEmpty { addedInterface = true }
      for address in own.isEmpty ? interfaces[interface] ?? [] : own where seen.insert(address).inserted {
        result.append(address)
      }
    }
    return result
  }

  private func addresses(of host: DNSName, on interface: InterfaceID) -> [IPAddress] {
    addresses(
      of: (index[host]?.hosted ?? []).compactMap { services[$0] }.filter(\.isOurs), on: interface)
  }

  /// Returns the goodbye records for the addresses of a host.
  /// - Parameter cacheFlush: Whether no other host uses the name.
  func addressRecords(of host: Published, on interface: InterfaceID, cacheFlush: Bool) -> [DNSRecord] {
    addresses(of: [host], on: interface).map {
      DNSRecord(host.host, DNSRecordData($0), ttl: 0, cacheFlush: cacheFlush)
    }
  }

  /// Returns the time after a multicast within which a record is assumed to be cached on the link: a quarter of its
  /// TTL. RFC 6762 § 5.4.
  func freshness(of reference: RecordReference) -> Duration {
    let ttl =
      switch reference.type {
      case .ptr, .txt: Self.otherTTL
      default: Self.hostTTL
      }
    return .seconds(Int64(ttl)) / 4
  }

  /// Returns the records of a reference on an interface: none if they no longer exist, several for addresses.
  func records(_ reference: RecordReference, on interface: InterfaceID) -> [DNSRecord] {
    let name = reference.name
    if reference.sequence == 0 {
      switch reference.type {
      case .ptr:
        return types.dropFirst(reference.position).prefix(1).map { DNSRecord(name, .ptr($0), ttl: Self.otherTTL) }
      case .nsec:
        let types = Set(addresses(of: name, on: interface).map { DNSRecordData($0).type }).sorted()
        // Without addresses, the name does not exist on the interface.
        if types.isEmpty { return [] }
        return [DNSRecord(name, .nsec(next: name, types: types), ttl: Self.hostTTL, cacheFlush: true)]
      default:
        return addresses(of: name, on: interface).map(DNSRecordData.init(_:)).filter { $0.type == reference.type }
          .map { DNSRecord(name, $0, ttl: Self.hostTTL, cacheFlush: true) }
      }
    }
    guard let service = services[reference.sequence], service.isOurs else { return [] }
    switch reference.type {
    case .ptr: return [DNSRecord(name, .ptr(service.instance), ttl: Self.otherTTL)]
    case .srv: return [DNSRecord(name, service.srv, ttl: Self.hostTTL, cacheFlush: true)]
    case .txt: return [DNSRecord(name, .txt(service.service.textStrings), ttl: Self.otherTTL, cacheFlush: true)]
    case .nsec:
      return [DNSRecord(name, .nsec(next: name, types: [.txt, .srv]), ttl: Self.hostTTL, cacheFlush: true)]
    default: return []
    }
  }

  /// The types of the published services, in a deterministic order.
  private var types: [DNSName] { (index[MatterServiceNames.enumeration]?.types.keys).map { $0.sorted() } ?? [] }

  /// Returns the records that answer a question.
  func references(answering question: DNSQuestion, on interface: InterfaceID) -> [RecordReference] {
    guard question.questionClass == 1 || question.questionClass == 255 else { return [] }
    guard let entry = index[question.name] else { return [] }
    let name = question.name
    let type = question.type
    var found: [RecordReference] = []
    if type == .ptr || type == .any {
      found += entry.pointers.map { RecordReference(name, .ptr, $0) }
      found += entry.types.indices.enumerated().map { RecordReference(name, .ptr, position: $0.offset) }
    }
    if let instance = entry.instance, services[instance]?.isOurs == true {
      switch type {
      case .srv, .txt: found.append(RecordReference(name, type, instance))
      case .any: found += [RecordReference(name, .srv, instance), RecordReference(name, .txt, instance)]
      default: found.append(RecordReference(name, .nsec, instance))
      }
    }
    if !entry.hosted.isEmpty {
      let present = Set(addresses(of: name, on: interface).map { DNSRecordData($0).type })
      if type == .any {
        found += present.sorted().map { RecordReference(name, $0) }
      } else if present.contains(type) {
        found.append(RecordReference(name, type))
      } else if !present.isEmpty {
        found.append(RecordReference(name, .nsec))
      }
    }
    return found
  }

  /// Returns the additional records for an answer. RFC 6763 § 12.
  func additionals(to reference: RecordReference) -> [RecordReference] {
    if reference.sequence == 0 {
      switch reference.type {
      case .a: return [RecordReference(reference.name, .aaaa)]
      case .aaaa: return [RecordReference(reference.name, .a)]
      default: return []
      }
    }
    guard let service = services[reference.sequence] else { return [] }
    let addresses = [RecordReference(service.host, .aaaa), RecordReference(service.host, .a)]
    switch reference.type {
    case .ptr:
      return [
        RecordReference(service.instance, .srv, reference.sequence),
        RecordReference(service.instance, .txt, reference.sequence),
      ] + addresses
    case .srv: return addresses
    default: return []
    }
  }

  /// Returns all records of a service, for its announcement.
  func announcement(of sequence: UInt64) -> [RecordReference] {
    guard let service = services[sequence] else { return [] }
    return service.pointers.map { RecordReference($0, .ptr, sequence) } + [
      RecordReference(service.instance, .srv, sequence), RecordReference(service.instance, .txt, sequence),
      RecordReference(service.host, .aaaa), RecordReference(service.host, .a),
    ]
  }
}
