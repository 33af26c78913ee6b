// Collecting, timing and packing the answers of the responder.

extension DNSResponder {
  private static let maximumPending = 256
  private static let maximumDeferred = 64
  /// The maximum number of known answers kept for a query of several packets.
  private static let maximumKnownAnswers = 8192

  // MARK: - Queries

  /// Answers a query, or defers it until all of its known answers have arrived. RFC 6762 § 6.
  mutating func answer(
    _ message: DNSMessage, from source: SocketAddress, on interface: InterfaceID, at now: Instant
  ) {
    if let position = deferred.firstIndex(where: { $0.source == source && $0.interface == interface }) {
      if message.questions.isEmpty {
        // Further known answers of the previous query.
        if deferred[position].message.answers.count < Self.maximumKnownAnswers {
          deferred[position].message.answers += message.answers
        }
        deferred[position].due = message.isTruncated ? now + truncationDelay() : now
        return
      }
      deferred[position].due = now
      replayDeferred(at: now)
    }
    if message.isTruncated && !message.questions.isEmpty && deferred.count < Self.maximumDeferred {
      // A query for unknown names is not worth deferring.
      guard message.questions.contains(where: { index[$0.name] != nil }) else { return }
      deferred.append(
        DeferredQuery(source: source, interface: interface, message: message, due: now + truncationDelay()))
      return
    }
    respond(to: message, from: source, on: interface, delayed: true, at: now)
  }

  private mutating func truncationDelay() -> Duration { random.milliseconds(in: 400...500) }

  mutating func replayDeferred(at now: Instant) {
    while let position = deferred.firstIndex(where: { $0.due <= now }) {
      let query = deferred.remove(at: position)
      respond(to: query.message, from: query.source, on: query.interface, delayed: false, at: now)
    }
  }

  private mutating func respond(
    to message: DNSMessage, from source: SocketAddress, on interface: InterfaceID, delayed: Bool, at now: Instant
  ) {
    let isIPv6 = source.ip.isIPv6
    let isLegacy = source.port != MulticastDNS.port
    var known: [DNSRecord: UInt32] = [:]
    for answer in message.answers { known[answer.identity] = max(answer.ttl, known[answer.identity] ?? 0) }

    var unicast = PendingAnswers(
      interface: interface, isIPv6: isIPv6,
      unicast: .init(
        destination: source, id: message.id, legacyQuestions: isLegacy ? Array(message.questions.prefix(64)) : nil),
      due: now, requestedAt: now)
    var unique = PendingAnswers(interface: interface, isIPv6: isIPv6, unicast: nil, due: now, requestedAt: now)
    let longest = isLegacy ? legacyTTL(on: interface) : .max
    let isProbe = !message.authorities.isEmpty
    unique.ignoresHistory = isProbe
    var shared: [RecordReference] = []
    // A question that is repeated within a packet is answered once.
    var asked: Set<DNSQuestion> = []
    for question in message.questions where asked.insert(question).inserted {
      if isProbe && isOurs(question.name, in: message.authorities, on: interface) { continue }
      for reference in references(answering: question, on: interface) {
        if !known.isEmpty && isKnown(reference, known, on: interface, longest: longest) { continue }
        if isLegacy || question.wantsUnicast && (isProbe || isFresh(reference, unicast, at: now)) {
          unicast.append(reference)
        } else if reference.type == .ptr {
          shared.append(reference)
        } else {
          unique.append(reference)
        }
      }
    }
    if !unicast.isEmpty { enqueue(unicast) }
    if !unique.isEmpty { enqueue(unique) }
    if !shared.isEmpty {
      let delay = delayed ? random.milliseconds(in: 20...120) : .zero
      merge(shared.map { ($0, nil) }, interface: interface, isIPv6: isIPv6, due: now + delay, at: now)
    }
  }

  /// Whether the records proposed by a probe equal those of this responder: this is not a conflict, and the probe may
  /// be its own.
  private func isOurs(_ name: DNSName, in proposed: [DNSRecord], on interface: InterfaceID) -> Bool {
    let proposed = proposed.filter { $0.name == name }
    let ours = references(answering: DNSQuestion(name, .any), on: interface).flatMap { records($0, on: interface) }
    return !proposed.isEmpty && proposed.allSatisfy { record in ours.contains { $0.data == record.data } }
  }

  /// Whether the record was multicast recently enough to be cached on the whole link. Otherwise the answer to a query
  /// for unicast is multicast, so that other hosts can cache it and detect conflicts. RFC 6762 § 5.4.
  private func isFresh(_ reference: RecordReference, _ answers: PendingAnswers, at now: Instant) -> Bool {
    guard let last = history.last(reference, answers) else { return false }
    return now - last <= freshness(of: reference)
  }

  /// Whether the querier has the record with at least half of its TTL left. RFC 6762 § 7.1.
  private func isKnown(
    _ reference: RecordReference, _ known: [DNSRecord: UInt32], on interface: InterfaceID, longest: UInt32
  ) -> Bool {
    let records = records(reference, on: interface)
    return !records.isEmpty
      && records.allSatisfy { record in
        guard let ttl = known[record.identity] else { return false }
        return ttl >= min(record.ttl, longest) / 2
      }
  }

  private mutating func enqueue(_ answers: PendingAnswers) {
    if pending.count >= Self.maximumPending {
      counters.overloaded += 1
    } else {
      pending.append(answers)
    }
  }

  /// Adds records to the pending multicast answer of the interface, or creates one. The number of pending records is
  /// therefore bounded by the number of records, regardless of the number of queries.
  private mutating func merge(
    _ references: [(reference: RecordReference, service: UInt64?)], interface: InterfaceID, isIPv6: Bool, due: Instant,
    at now: Instant
  ) {
    let waiting = pending.firstIndex {
      $0.unicast == nil && $0.interface == interface && $0.isIPv6 == isIPv6 && !$0.ignoresHistory && $0.due <= due
    }
    if let waiting {
      for (reference, service) in references { pending[waiting].append(reference, of: service) }
      pending[waiting].requestedAt = max(pending[waiting].requestedAt, now)
    } else {
      var answers = PendingAnswers(interface: interface, isIPv6: isIPv6, unicast: nil, due: due, requestedAt: now)
      for (reference, service) in references { answers.append(reference, of: service) }
      pending.append(answers)
    }
  }

  // MARK: - Announcements and goodbyes

  /// The interfaces with their address families, in a deterministic order.
  private var channels: [(interface: InterfaceID, isIPv6: Bool)] {
    interfaces.sorted { $0.key < $1.key }.flatMap { interface, addresses in
      let families = options.onlyFamilies[interface].map { [$0 == .v6] } ?? Set(addresses.map(\.isIPv6))
      return [false, true].filter(families.contains).map { (interface, $0) }
    }
  }

  /// Sends the announcements that are due.
  mutating func step(to now: Instant) {
    var due: [UInt64] = []
    // Stale entries are removed until one that is valid comes first.
    while let step = steps.first {
      let isValid = services[step.sequence]?.nextStep == step.time
      if isValid, step.time > now { break }
      _ = steps.removeFirst()
      guard isValid else { continue }
      services[step.sequence]?.nextStep = nil
      due.append(step.sequence)
    }
    if due.isEmpty { return }
    lastStep = max(lastStep, now)
    var announced: [(reference: RecordReference, service: UInt64?)] = []
    for sequence in due.sorted() {
      guard let phase = services[sequence]?.phase else { continue }
      let left = if case .announcing(let left) = phase { left } else { 2 }
      announced += announcement(of: sequence).map { ($0, sequence) }
      services[sequence]?.phase = .announcing(left: max(0, left - 1))
      if left > 1 { schedule(sequence, at: now + .seconds(1)) }
    }
    for channel in channels where !announced.isEmpty {
      merge(announced, interface: channel.interface, isIPv6: channel.isIPv6, due: now, at: now)
    }
  }

  mutating func goodbye(_ records: [DNSRecord], hosts: [Published], isHostNameForeign: Bool = false) {
    for host in hosts { history.clear(host.host, on: interfaces.keys.sorted()) }
    goodbyes.append(Goodbye(records: records, hosts: hosts, isHostNameForeign: isHostNameForeign))
  }

  /// Sends the goodbyes since the last call: packets of their own for each service.
  mutating func flushGoodbyes() {
    if goodbyes.isEmpty { return }
    for (interface, isIPv6) in channels {
      for goodbye in goodbyes {
        let addresses = goodbye.hosts.flatMap {
          addressRecords(of: $0, on: interface, cacheFlush: !goodbye.isHostNameForeign)
        }
        var records = (goodbye.records + addresses)[...]
        while !records.isEmpty {
          var writer = DNSWriter(limit: MulticastDNS.packetSize)
          // A record that is longer than a packet has one of its own.
          let count = max(1, records.prefix { writer.append($0) }.count)
          let message = DNSMessage(flags: Self.responseFlags, answers: Array(records.prefix(count)))
          records = records.dropFirst(count)
          outbox.append(
            DNSOutput(
              bytes: message.encoded(limit: DNSMessage.maximumSize),
              destination: .multicast(interface: interface, isIPv6: isIPv6)))
        }
      }
    }
    goodbyes = []
  }

  // MARK: - Packing

  private static let responseFlags = DNSMessage.responseFlag | DNSMessage.authoritativeFlag
  /// Postponed records are sent at multiples of this time, in nanoseconds, which limits the number of pending answers.
  private static let postponementStep: Int64 = 10_000_000

  /// Writes the packets that are due.
  mutating func flush(at now: Instant) {
    let due = pending.filter { $0.due <= now }
    if due.isEmpty { return }
    // Goodbyes first, because an answer may announce a withdrawn record again.
    flushGoodbyes()
    pending.removeAll { $0.due <= now }
    for var answers in due {
      for _ in 0..<max(1, options.burst) where !answers.isEmpty { pack(&answers, at: now) }
      if answers.isEmpty { continue }
      answers.due = now + options.burstPause
      pending.append(answers)
    }
  }

  /// Writes one packet with the answers about the next service and the records that belong beside them.
  ///
  /// Each service has packets of its own, as from separate hosts: the Matter SDK, whose first query comes from a port of its own,
  /// resolves two services of a packet and drops the others.
  private mutating func pack(_ answers: inout PendingAnswers, at now: Instant) {
    let legacy = answers.unicast?.legacyQuestions
    var writer = DNSWriter(limit: MulticastDNS.packetSize, compressingTargets: legacy == nil)
    let questions = (legacy ?? []).count { writer.append($0) }
    var (main, beside) = (0, 0)
    while let (service, references) = answers.first, main == 0 {
      var included: [RecordReference] = []
      // Whether the whole group is in the packet. A group that doesn't fit gets packets of its own, each as full as
      // possible.
      var isComplete = true
      var taken = 0
      // Whether records of the service itself are not sent now. The addresses of its host would then be alone in the packet.
      var isPostponed = false
      for reference in references {
        let isOwn = reference.sequence == service
        if !isOwn && isPostponed && included.isEmpty {
          // The packet with the postponed records has them, or the one with the records that were just sent.
        } else if isDue(reference, of: service, in: answers, at: now) {
          let group = records(reference, for: answers)
          let mark = writer.mark
          isComplete = group.allSatisfy { writer.append($0) }
          if !isComplete {
            writer.rewind(to: mark)
            break
          }
          if !group.isEmpty { included.append(reference) }
          main += group.count
        } else if isOwn {
          isPostponed = true
        }
        taken += 1
      }
      let answered = included.count
      additionals: for reference in included.prefix(answered) {
        for extra in additionals(to: reference) where !included.contains(extra) {
          let group = records(extra, for: answers)
          let mark = writer.mark
          guard group.allSatisfy({ writer.append($0) }) else {
            writer.rewind(to: mark)
            isComplete = false
            break additionals
          }
          included.append(extra)
          beside += group.count
        }
      }
      // A record that is too large for any packet is dropped.
      answers.removeFirst(isComplete ? references.count : max(1, taken))
      for reference in included {
        if reference.sequence == 0 { answers.sent.insert(reference) }
        if answers.unicast == nil { history.note(reference, answers, at: now) }
      }
    }
    if main == 0 { return }
    let destination: DNSOutput.Destination =
      if let unicast = answers.unicast {
        .unicast(unicast.destination, interface: answers.interface)
      } else {
        .multicast(interface: answers.interface, isIPv6: answers.isIPv6)
      }
    outbox.append(
      DNSOutput(
        bytes: writer.finish(
          id: answers.unicast?.id ?? 0, flags: Self.responseFlags,
          counts: [questions, main, 0, beside].map(UInt16.init(clamping:))),
        destination: destination))
  }

  /// Whether an answer must be sent now. An answer that was multicast within the last second is postponed to the end of
  /// that second, or dropped if it was multicast after the query. RFC 6762 § 6.
  private mutating func isDue(
    _ reference: RecordReference, of service: UInt64, in answers: PendingAnswers, at now: Instant
  ) -> Bool {
    // An answer without a service may have been sent as an additional record of another packet.
    if service == 0 && answers.sent.contains(reference) { return false }
    // Every announcement of a service includes the addresses of its host; without them, receivers query again seconds
    // later.
    if answers.unicast != nil || answers.ignoresHistory || reference.sequence != service { return true }
    guard let last = history.last(reference, answers), now - last < MulticastHistory.pause else { return true }
    guard last < answers.requestedAt else { return false }
    let free = (last + MulticastHistory.pause).nanoseconds
    let due = Instant(nanoseconds: (free + Self.postponementStep - 1) / Self.postponementStep * Self.postponementStep)
    let waiting = pending.lastIndex {
      $0.unicast == nil && $0.interface == answers.interface && $0.isIPv6 == answers.isIPv6 && !$0.ignoresHistory
        && $0.due == due
    }
    if let waiting {
      pending[waiting].append(reference, of: service)
      pending[waiting].requestedAt = max(pending[waiting].requestedAt, answers.requestedAt)
    } else {
      var postponed = PendingAnswers(
        interface: answers.interface, isIPv6: answers.isIPv6, unicast: nil, due: due, requestedAt: answers.requestedAt)
      postponed.append(reference, of: service)
      pending.append(postponed)
    }
    return false
  }

  /// Returns the records of a reference as they are sent to the receivers of the answers.
  private func records(_ reference: RecordReference, for answers: PendingAnswers) -> [DNSRecord] {
    let records = records(reference, on: answers.interface)
    if answers.unicast?.legacyQuestions == nil { return records }
    return records.map { $0.legacy(longest: legacyTTL(on: answers.interface)) }
  }

  /// The maximum TTL for a querier that uses another port than 5353. On the direct interface, all queriers are browsers of
  /// other processes: they refresh records before these expire, which would keep a large fleet busy with a TTL of seconds.
  private func legacyTTL(on interface: InterfaceID) -> UInt32 {
    interface == .direct ? Self.hostTTL : Self.legacyTTL
  }
}

extension DNSRecord {
  /// Returns the record as sent to a plain DNS resolver: with a short TTL and without the cache-flush bit. RFC 6762 §
  /// 6.7.
  fileprivate func legacy(longest: UInt32) -> DNSRecord {
    var record = self
    record.ttl = min(ttl, longest)
    record.cacheFlush = false
    return record
  }

  /// The record without TTL and cache-flush bit, which differ between copies.
  var identity: DNSRecord { DNSRecord(name, data, ttl: 0, recordClass: recordClass) }
}
