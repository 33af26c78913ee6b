// Whose a name is: probes, ties between probes, and conflicts. RFC 6762 § 8, § 9.

extension DNSResponder {
  /// Asks whether anybody has these names, with as many in a packet as fit. RFC 6762 § 8.1.
  mutating func sendProbes(_ probed: [Published], _ interface: InterfaceID, isIPv6: Bool) {
    var message = DNSMessage()
    var writer = DNSWriter(limit: MulticastDNS.packetSize)
    var hosts: Set<DNSName> = []
    func send(_ message: DNSMessage) {
      outbox.append(
        DNSOutput(
          bytes: message.encoded(limit: MulticastDNS.packetSize),
          destination: .multicast(interface: interface, isIPv6: isIPv6)))
    }
    for service in probed {
      var questions = [DNSQuestion(service.instance, .any, wantsUnicast: true)]
      var records = [DNSRecord(service.instance, service.srv, ttl: Self.hostTTL)]
      if !isOwned(service.host) && !hosts.contains(service.host) {
        questions.append(DNSQuestion(service.host, .any, wantsUnicast: true))
        records += proposedAddresses(of: service, on: interface)
      }
      let start = writer.mark
      var fits = true
      for question in questions where !writer.append(question) { fits = false }
      for record in records where !writer.append(record) { fits = false }
      if !fits && !message.questions.isEmpty {
        writer.rewind(to: start)
        send(message)
        message = DNSMessage()
        writer = DNSWriter(limit: MulticastDNS.packetSize)
        for question in questions { _ = writer.append(question) }
        for record in records { _ = writer.append(record) }
      }
      hosts.insert(service.host)
      message.questions += questions
      message.authorities += records
    }
    if !message.questions.isEmpty { send(message) }
  }

  /// Whether a host's name is ours already: a service on it has been announced.
  func isOwned(_ host: DNSName) -> Bool {
    index[host]?.hosted.contains { services[$0]?.isOurs == true } ?? false
  }

  private func proposedAddresses(of service: Published, on interface: InterfaceID) -> [DNSRecord] {
    addresses(of: [service], on: interface).map { DNSRecord(service.host, DNSRecordData($0), ttl: Self.hostTTL) }
  }

  /// Somebody probes for names that we are probing for. Of two the one goes first whose data comes later in the order of the
  /// alphabet; the other waits a second, and then finds the name taken or free. RFC 6762 § 8.2.
  mutating func breakTies(with message: DNSMessage, on interface: InterfaceID, at now: Instant) {
    var theirs: [DNSName: [DNSRecord]] = [:]
    for record in message.authorities where index[record.name] != nil {
      theirs[record.name, default: []].append(record)
    }
    for (name, records) in theirs.sorted(by: { $0.key < $1.key }) {
      // Our own probe, come back or sent on another interface of the same link.
      if records.allSatisfy({ isOurs($0) }) { continue }
      var rivals: [UInt64] = []
      var ours: [DNSRecord] = []
      if let hosted = index[name]?.hosted, !hosted.isEmpty, !isOwned(name) {
        rivals = hosted
        ours = hosted.first.flatMap { services[$0] }.map { proposedAddresses(of: $0, on: interface) } ?? []
      }
      // One that is held back waits longer anyway.
      rivals.removeAll { services[$0]?.isHeldBack == true }
      guard !rivals.isEmpty, Self.isEarlier(ours, than: records) else { continue }
      for sequence in rivals { probeAgain(sequence, at: now + .seconds(1)) }
    }
  }

  private static func isEarlier(_ ours: [DNSRecord], than theirs: [DNSRecord]) -> Bool {
    func keys(_ records: [DNSRecord]) -> [[UInt8]] {
      records.map { record in
        let numbers = [record.recordClass, record.type.rawValue]
        return numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + record.data.wire
      }.sorted { $0.lexicographicallyPrecedes($1) }
    }
    return keys(ours).lexicographicallyPrecedes(keys(theirs)) { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether a record is one that we have, or are about to have, on whichever interface.
  private func isOurs(_ record: DNSRecord) -> Bool {
    if let sequence = index[record.name]?.instance, let service = services[sequence] {
      switch record.data {
      case .srv: return record.data == service.srv
      default: return true
      }
    }
    switch record.data {
    case .a, .aaaa:
      for sequence in index[record.name]?.hosted ?? [] {
        if services[sequence]?.service.addresses.contains(where: { DNSRecordData($0) == record.data }) ?? false {
          return true
        }
      }
      return interfaces.values.contains { $0.contains { DNSRecordData($0) == record.data } }
    default: return true
    }
  }

  private mutating func probeAgain(_ sequence: UInt64, at instant: Instant) {
    services[sequence]?.phase = .begun
    schedule(sequence, at: instant)
  }

  /// Leaves a name alone for a while.
  private mutating func holdBack(_ sequence: UInt64, at now: Instant) {
    services[sequence]?.phase = .heldBack
    schedule(sequence, at: now + options.conflictPause)
  }

  /// Somebody says something else about one of our names. RFC 6762 § 9.
  mutating func noticeConflicts(in message: DNSMessage, at now: Instant) {
    // A host has several addresses: one message is one claim, which is answered by probes, not by giving way at the second record.
    var claimed: Set<DNSName> = []
    for record in message.answers + message.additionals where record.ttl > 0 {
      if retainedHosts[record.name] != nil && !isOurs(record) { retainedHosts[record.name] = nil }
      guard let entry = index[record.name], entry.instance != nil || !entry.hosted.isEmpty, !isOurs(record) else {
        continue
      }
      if let sequence = entry.instance, let service = services[sequence] {
        defend(sequence, service.service.kind, at: now)
      } else if options.probes {
        if claimed.contains(record.name) { continue }
        if isOwned(record.name) {
          claimed.insert(record.name)
          for sequence in entry.hosted { probeAgain(sequence, at: now) }
          continue
        }
        let held = entry.hosted.filter { services[$0]?.isHeldBack == false }
        if held.isEmpty { continue }
        takeBack(held)
        for sequence in held { holdBack(sequence, at: now) }
        note(
          .hostConflict(
            held.compactMap { services[$0] }.first?.service.hostName ?? "",
            held.compactMap { services[$0]?.service.kind }))
      }
    }
  }

  /// What was announced on a host whose name turned out to be another's would lead to that other host.
  private mutating func takeBack(_ sequences: [UInt64]) {
    let announced = sequences.compactMap { services[$0] }.filter(\.wasAnnounced)
    guard !announced.isEmpty else { return }
    var hosts: [Published] = []
    for service in announced where !hosts.contains(where: { $0.service.addresses == service.service.addresses }) {
      hosts.append(service)
    }
    let records = announced.map { DNSRecord($0.instance, $0.srv, ttl: 0, cacheFlush: true) }
    goodbye(records, hosts: hosts, isHostOthers: true)
    for sequence in sequences { services[sequence]?.wasAnnounced = false }
  }

  private mutating func defend(_ sequence: UInt64, _ kind: MatterService.Kind, at now: Instant) {
    note(.conflict(kind))
    guard services[sequence]?.isOurs == true, !unsettled.contains(sequence) else { return }
    services[sequence]?.phase = .announcing(left: 1)
    schedule(sequence, at: now)
  }

  private mutating func note(_ event: Event) { if events.count < 64 { events.append(event) } }
}

extension DNSRecordData {
  /// The data as it stands on the wire without compression.
  var wire: [UInt8] { DNSWriter.uncompressed(self) }
}
