// Name conflicts. RFC 6762 § 9.

extension DNSResponder {
  /// Whether a record does not conflict with those of this responder, on any interface.
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
        || previousAddresses.contains { DNSRecordData($0) == record.data }
    default: return true
    }
  }

  /// Detects records of other hosts that conflict with a name of this responder.
  mutating func detectConflicts(in message: DNSMessage, at now: Instant) {
    for record in message.answers + message.additionals where record.ttl > 0 {
      guard let entry = index[record.name], !isOurs(record) else { continue }
      if let sequence = entry.instance, let service = services[sequence] {
        defend(sequence, service.service.kind, at: now)
      } else {
        releaseHost(of: entry.hosted.filter { services[$0]?.isOurs == true }, at: now)
      }
    }
  }

  /// Detects probes of other hosts for a name of this responder. If the name was announced within the last second, the
  /// other host had the name before and probes because of the announcement; otherwise the answer defends the name. RFC
  /// 6762 § 9.
  mutating func detectProbes(in message: DNSMessage, at now: Instant) {
    for record in message.authorities {
      guard let entry = index[record.name], !isOurs(record) else { continue }
      if let sequence = entry.instance, let service = services[sequence] {
        if isUnannounced(sequence) { note(.conflict(service.service.kind)) }
      } else if entry.hosted.allSatisfy(isUnannounced) {
        releaseHost(of: entry.hosted.filter { services[$0]?.isOurs == true }, at: now)
      }
    }
  }

  /// Withdraws the services on a host whose name another host uses, because they would resolve to that host, and holds
  /// them back.
  private mutating func releaseHost(of sequences: [UInt64], at now: Instant) {
    let held = sequences.compactMap { services[$0] }
    guard let name = held.first?.service.hostName else { return }
    var hosts: [Published] = []
    for service in held where !hosts.contains(where: { $0.service.addresses == service.service.addresses }) {
      hosts.append(service)
    }
    goodbye(
      held.map { DNSRecord($0.instance, $0.srv, ttl: 0, cacheFlush: true) }, hosts: hosts, isHostNameForeign: true)
    for sequence in sequences {
      services[sequence]?.phase = .heldBack
      schedule(sequence, at: now + options.conflictPause)
    }
    // If a host contradicts every name, limit announcements to one per second.
    if now - lastConflict < .seconds(10) { lastStep = max(lastStep, now + .seconds(1)) }
    lastConflict = now
    note(.hostConflict(name, held.map(\.service.kind)))
  }

  /// Announces a service again, at a limited rate because the other host may do the same.
  private mutating func defend(_ sequence: UInt64, _ kind: MatterService.Kind, at now: Instant) {
    note(.conflict(kind))
    guard let service = services[sequence], service.isOurs, !isUnannounced(sequence),
      now - service.lastDefense >= options.conflictPause
    else { return }
    services[sequence]?.phase = .announcing(left: 1)
    services[sequence]?.lastDefense = now
    schedule(sequence, at: now)
  }

  private mutating func note(_ event: Event) { if events.count < 64 { events.append(event) } }
}

extension DNSRecordData {
  /// The encoded data without name compression.
  var wire: [UInt8] { DNSWriter.uncompressed(self) }
}
