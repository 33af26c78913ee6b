// Caching the records of responses, and emitting events.

extension DNSBrowser {
  /// Caches the records of a response in the order pointers, services, addresses, because each depends on the one
  /// before. Records that no search needs are ignored.
  mutating func learn(
    _ answers: [DNSRecord], _ additionals: [DNSRecord], on interface: InterfaceID, at now: Instant
  ) {
    let records = answers + additionals
    let listed = Set(answers.compactMap { if case .ptr(let target) = $0.data { target } else { nil } })
    let complete = listed.intersection(answers.compactMap { if case .srv = $0.data { $0.name } else { nil } })
    for record in records where record.recordClass == 1 {
      if case .ptr(let target) = record.data { learnPointer(record, to: target, on: interface, at: now) }
    }
    for record in records where record.recordClass == 1 {
      switch record.data {
      case .srv, .txt: learnInstance(record, isComplete: complete.contains(record.name), on: interface, at: now)
      default: break
      }
    }
    var flushed: Set<CacheKey> = []
    for record in records where record.recordClass == 1 {
      guard let address = record.data.address(on: interface) else { continue }
      let key = CacheKey(interface: interface, name: record.name)
      learnAddress(record, address, of: key, at: now)
      // Flushed once per host, so that the records of one packet don't flush each other.
      if record.cacheFlush { flushed.insert(key) }
    }
    for key in flushed { flushAddresses(of: key, heardIn: records, at: now) }
  }

  private mutating func learnPointer(
    _ record: DNSRecord, to target: DNSName, on interface: InterfaceID, at now: Instant
  ) {
    guard searches[record.name] != nil, let kind = MatterService.Kind(instanceName: target) else { return }
    // The target must be an instance of the pointer's type, or of the parent type of its subtype.
    guard record.name == kind.typeName || record.name.parent.parent == kind.typeName else { return }
    let key = CacheKey(interface: interface, name: target)
    if record.ttl == 0 {
      if let known = instances[key]?.pointers[record.name] {
        var known = known
        known.end(at: now)
        instances[key]?.pointers[record.name] = known
        schedule(.instance(key), at: known.next)
      }
      return
    }
    let lifetime = Lifetime(record.ttl, at: now, .pointer, random: &random)
    guard makeEntry(for: key, kind) else { return }
    if let known = instances[key]?.pointers[record.name] {
      instances[key]?.pointers[record.name] = known.merged(with: lifetime)
    } else {
      instances[key]?.pointers[record.name] = lifetime
      pointing[record.name, default: []].insert(key)
      dirty.insert(key)
    }
    schedule(.instance(key), at: lifetime.next)
  }

  mutating func removePointer(_ name: DNSName, of key: CacheKey) {
    instances[key]?.pointers[name] = nil
    pointing[name]?.remove(key)
    if pointing[name]?.isEmpty == true { pointing[name] = nil }
  }

  /// Creates the entry of an instance if needed; returns false if the cache is full.
  private mutating func makeEntry(for key: CacheKey, _ kind: MatterService.Kind) -> Bool {
    if instances[key] != nil { return true }
    guard instances.count < options.maximumInstances else {
      counters.overflowed += 1
      return false
    }
    instances[key] = CachedInstance(kind: kind)
    knownInterfaces.insert(key.interface)
    return true
  }

  /// - Parameter isComplete: Whether the answers of the message include both a pointer to the instance and its SRV
  ///   record.
  private mutating func learnInstance(
    _ record: DNSRecord, isComplete: Bool, on interface: InterfaceID, at now: Instant
  ) {
    let key = CacheKey(interface: interface, name: record.name)
    if instances[key] == nil {
      // An instance without a pointer is cached only if a search is for its name.
      guard record.ttl > 0, searches[record.name] != nil, let kind = MatterService.Kind(instanceName: record.name),
        makeEntry(for: key, kind)
      else { return }
    }
    guard let instance = instances[key] else { return }
    let lifetime = Lifetime(record.ttl, at: now, .service, random: &random)
    switch record.data {
    case .srv(_, _, let port, let host):
      if record.ttl == 0 {
        instances[key]?.service?.lifetime.end(at: now)
        if instance.service == nil { return }
      } else if let known = instance.service, known.port == port, known.host == host {
        instances[key]?.service?.lifetime = known.lifetime.merged(with: lifetime)
        if record.cacheFlush, isAnnouncement(key, instance, isComplete: isComplete, at: now) {
          instances[key]?.isAnnounced = true
          dirty.insert(key)
        }
      } else {
        setService(.init(lifetime: lifetime, port: port, host: host), of: key)
        dirty.insert(key)
      }
    case .txt(let strings):
      if record.ttl == 0 {
        instances[key]?.text?.lifetime.end(at: now)
        if instance.text == nil { return }
      } else if let known = instance.text, known.strings == strings {
        instances[key]?.text?.lifetime = known.lifetime.merged(with: lifetime)
      } else {
        instances[key]?.text = .init(lifetime: lifetime, strings: strings)
        dirty.insert(key)
      }
    default: return
    }
    schedule(.instance(key), at: lifetime.next)
  }

  /// Sets or removes the SRV data of an instance, and updates the hosts' lists of instances.
  mutating func setService(_ service: CachedInstance.Service?, of key: CacheKey) {
    let old = instances[key]?.service?.host
    instances[key]?.service = service
    if let old, old != service?.host {
      let host = CacheKey(interface: key.interface, name: old)
      hosts[host]?.instances.remove(key.name)
      if hosts[host]?.instances.isEmpty ?? false { hosts[host] = nil }
    }
    if let service {
      hosts[CacheKey(interface: key.interface, name: service.host), default: CachedHost()].instances.insert(key.name)
    }
  }

  private mutating func learnAddress(_ record: DNSRecord, _ address: IPAddress, of key: CacheKey, at now: Instant) {
    guard let host = hosts[key] else { return }
    let lifetime = Lifetime(record.ttl, at: now, .address, random: &random)
    if let known = host.addresses[address] {
      if record.ttl == 0 {
        hosts[key]?.addresses[address]?.end(at: now)
      } else {
        hosts[key]?.addresses[address] = known.merged(with: lifetime)
      }
    } else {
      if record.ttl == 0 { return }
      guard host.addresses.count < options.maximumAddresses else {
        counters.overflowed += 1
        return
      }
      hosts[key]?.addresses[address] = lifetime
      for name in host.instances { dirty.insert(CacheKey(interface: key.interface, name: name)) }
    }
    schedule(.host(key), at: lifetime.next)
  }

  /// Expires the addresses of a host that were not repeated in a message with the cache-flush bit, unless they were
  /// received within the last second: the sender may have split its records. RFC 6762 § 10.2.
  private mutating func flushAddresses(of key: CacheKey, heardIn records: [DNSRecord], at now: Instant) {
    guard let host = hosts[key] else { return }
    let types = Set(records.filter { $0.cacheFlush && $0.name == key.name }.map(\.type))
    for (address, lifetime) in host.addresses
    where types.contains(DNSRecordData(address).type) && now - lifetime.received > Lifetime.goodbyeDelay {
      hosts[key]?.addresses[address]?.end(at: now)
      schedule(.host(key), at: now + Lifetime.goodbyeDelay)
    }
  }

  // MARK: - Answers and announcements

  /// The time after a query or a report within which a record may be an answer, as responders delay answers, or the
  /// repetition of an announcement, which follows after one second. RFC 6762 § 6, § 8.3.
  private static let answerTime = Duration.seconds(2)

  /// Records the time of queries from this or other hosts.
  mutating func recordQueries(_ questions: [DNSQuestion], on interface: InterfaceID, at now: Instant) {
    for question in questions {
      instances[CacheKey(interface: interface, name: question.name)]?.queriedAt = now
      for type in MatterServiceNames.types where question.name == type || question.name.parent.parent == type {
        typeQueriedAt[CacheKey(interface: interface, name: type)] = now
      }
    }
  }

  /// Records the names that another host probes for.
  mutating func recordProbes(_ records: [DNSRecord], on interface: InterfaceID) {
    for record in records {
      var name = record.name
      if case .ptr(let target) = record.data { name = target }
      instances[CacheKey(interface: interface, name: name)]?.isProbed = true
    }
  }

  /// Whether the unchanged record of an instance is an unsolicited announcement rather than an answer.
  /// - Parameter isComplete: Whether the answers include the pointer and the SRV record, as in an announcement. The
  ///   answer to a query for an instance, which other hosts repeat while it is unreachable, has no pointers; the answer
  ///   to a query for a type has nothing but pointers.
  private func isAnnouncement(_ key: CacheKey, _ instance: CachedInstance, isComplete: Bool, at now: Instant) -> Bool {
    if instance.isProbed { return true }
    func isRecent(_ time: Instant?) -> Bool { time.map { now - $0 < Self.answerTime } ?? false }
    let isQueried = isRecent(instance.queriedAt)
    let isTypeQueried = isRecent(typeQueriedAt[CacheKey(interface: key.interface, name: instance.kind.typeName)])
    return !isRecent(instance.reportedAt) && !(isComplete ? isQueried && isTypeQueried : isQueried || isTypeQueried)
  }

  // MARK: - Events

  /// Emits the events of the instances marked as dirty.
  mutating func reportChanges(at now: Instant) {
    if dirty.isEmpty { return }
    let keys = dirty.sorted()
    dirty = []
    for key in keys { reevaluate(key, at: now) }
  }

  /// Returns the service resolved from the records of an instance, or nil if one is missing.
  private func resolved(_ key: CacheKey, _ instance: CachedInstance) -> MatterService? {
    guard let service = instance.service, let text = instance.text,
      let host = hosts[CacheKey(interface: key.interface, name: service.host)], !host.addresses.isEmpty
    else { return nil }
    return MatterService(
      kind: instance.kind, hostName: service.host.description, port: service.port, addresses: host.sorted,
      text: MatterService.textEntries(text.strings))
  }

  private mutating func reevaluate(_ key: CacheKey, at now: Instant) {
    guard let instance = instances[key] else { return }
    instances[key]?.isAnnounced = false
    let service = resolved(key, instance)
    let wanted = instance.pointers.keys.flatMap { searches[$0] ?? [] } + (searches[key.name] ?? [])
    for id in Set(wanted).union(instance.reported.keys).sorted() {
      let before = instance.reported[id]
      let after = wanted.contains(id) ? service : nil
      if before == after && !(after != nil && instance.isAnnounced) { continue }
      instances[key]?.reported[id] = after
      instances[key]?.reportedAt = now
      instances[key]?.isProbed = false
      if after == nil { browses[id]?.reported.remove(key) } else { browses[id]?.reported.insert(key) }
      switch (before, after) {
      case (nil, let after?): emit(.found(id, after, on: key.interface))
      case (_?, let after?): emit(.updated(id, after, on: key.interface))
      case (let before?, nil):
        emit(.lost(id, before, on: key.interface))
        // A search for a single instance queries again at once.
        if case .instance = browses[id]?.target {
          browses[id]?.nextQuery = now
          browses[id]?.interval = .seconds(1)
          schedule(.browse(id), at: now)
        }
      case (nil, nil): break
      }
    }
    if service != nil {
      instances[key]?.attempts = 0
      instances[key]?.nextAttempt = nil
    } else if instance.nextAttempt == nil && instance.attempts == 0 && !wanted.isEmpty {
      // Delayed, because the missing records may be in the next packet.
      instances[key]?.nextAttempt = now + .milliseconds(10)
      schedule(.instance(key), at: now + .milliseconds(10))
    }
    dropIfUnwanted(key)
  }

  /// Removes an instance that no search needs, or that has no records.
  mutating func dropIfUnwanted(_ key: CacheKey) {
    guard let instance = instances[key], instance.pointers.isEmpty else { return }
    if searches[key.name] != nil && (instance.service != nil || instance.text != nil) { return }
    setService(nil, of: key)
    for id in instance.reported.keys { browses[id]?.reported.remove(key) }
    instances[key] = nil
  }
}
