// Conflicts of names. RFC 6762 § 9.

extension DNSResponder {
  /// Whether a record is one of ours, on any interface.
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
      return interfaces.values.joined().contains { DNSRecordData($0) == record.data }
        || formerAddresses.contains { DNSRecordData($0) == record.data }
    default: return true
    }
  }

  /// Another host says something else about one of our names.
  mutating func noticeConflicts(in message: DNSMessage, at now: Instant) {
    for record in message.answers + message.additionals where record.ttl > 0 {
      guard let entry = index[record.name], !isOurs(record) else { continue }
      if let sequence = entry.instance, let service = services[sequence] {
        defend(sequence, service.service.kind, at: now)
      } else {
        giveUpHost(of: entry.hosted.filter { services[$0]?.isOurs == true }, at: now)
      }
    }
  }

  /// Another host probes for one of our names. If the name was announced within the last second, the other host had it before, and
  /// probes because it received the announcement; otherwise the answer defends the name. RFC 6762 § 9.
  mutating func noticeProbes(in message: DNSMessage, at now: Instant) {
    for record in message.authorities {
      guard let entry = index[record.name], !isOurs(record) else { continue }
      if let sequence = entry.instance, let service = services[sequence] {
        if unsettled.contains(sequence) { note(.conflict(service.service.kind)) }
      } else if entry.hosted.allSatisfy(unsettled.contains) {
        giveUpHost(of: entry.hosted.filter { services[$0]?.isOurs == true }, at: now)
      }
    }
  }

  /// Withdraws the services on a host whose name another host has, as they would lead to that other host, and holds them back.
  private mutating func giveUpHost(of sequences: [UInt64], at now: Instant) {
    let held = sequences.compactMap { services[$0] }
    guard let name = held.first?.service.hostName else { return }
    var hosts: [Published] = []
    for service in held where !hosts.contains(where: { $0.service.addresses == service.service.addresses }) {
      hosts.append(service)
    }
    goodbye(held.map { DNSRecord($0.instance, $0.srv, ttl: 0, cacheFlush: true) }, hosts: hosts, isHostOthers: true)
    for sequence in sequences {
      services[sequence]?.phase = .heldBack
      schedule(sequence, at: now + options.conflictPause)
    }
    // Against a host that contradicts every name: one announcement a second.
    if now - lastConflict < .seconds(10) { lastStep = max(lastStep, now + .seconds(1)) }
    lastConflict = now
    note(.hostConflict(name, held.map(\.service.kind)))
  }

  /// Announces a service again, once in a while: the other host may do the same.
  private mutating func defend(_ sequence: UInt64, _ kind: MatterService.Kind, at now: Instant) {
    note(.conflict(kind))
    guard let service = services[sequence], service.isOurs, !unsettled.contains(sequence),
      now - service.defended >= options.conflictPause
    else { return }
    services[sequence]?.phase = .announcing(left: 1)
    services[sequence]?.defended = now
    schedule(sequence, at: now)
  }

  private mutating func note(_ event: Event) { if events.count < 64 { events.append(event) } }
}

extension DNSRecordData {
  /// The data as it stands on the wire without compression.
  var wire: [UInt8] { DNSWriter.uncompressed(self) }
}
