// The queries of the browser.

extension DNSBrowser {
  /// Questions in order, without duplicates.
  struct Questions {
    private(set) var list: [DNSQuestion] = []
    private var positions: [DNSQuestion: Int] = [:]

    mutating func add(_ name: DNSName, _ type: DNSType, wantsUnicast: Bool = false) {
      let question = DNSQuestion(name, type)
      if let position = positions[question] {
        // A multicast response serves both.
        if !wantsUnicast { list[position].wantsUnicast = false }
      } else {
        positions[question] = list.count
        list.append(DNSQuestion(name, type, wantsUnicast: wantsUnicast))
      }
    }
  }

  /// Sends the queries that are due, and removes expired records.
  public mutating func advance(to now: Instant) {
    reportChanges(at: now)
    dropStaleEntries()
    guard let first = timers.first, first.time <= now else { return }
    var due = DueTimers()
    removeDue(at: now, into: &due)
    var questions = Questions()
    for key in due.instances { expire(key, at: now) }
    for key in due.hosts { advanceHost(key, &questions, at: now) }
    reportChanges(at: now)
    // Searches for lost instances are due at once.
    removeDue(at: now, into: &due)
    for id in due.browses { advanceBrowse(id, &questions, at: now) }
    for key in due.instances { advanceInstance(key, &questions, at: now) }
    send(
      questions.list.map { question in
        var question = question
        question.wantsUnicast = question.wantsUnicast && options.asksForUnicast
        return question
      }, at: now)
    reschedule(due)
  }

  private mutating func advanceBrowse(_ id: BrowseID, _ questions: inout Questions, at now: Instant) {
    guard var browse = browses[id], browse.nextQuery <= now else { return }
    switch browse.target {
    case .pointers(let name):
      questions.add(name, .ptr, wantsUnicast: browse.isFirst)
    case .instance:
      // While the records are cached, refreshing them is enough.
      if browse.isFirst || browse.reported.isEmpty {
        questions.add(browse.name, .srv, wantsUnicast: browse.isFirst)
        questions.add(browse.name, .txt, wantsUnicast: browse.isFirst)
      }
    }
    browse.isFirst = false
    browse.nextQuery = now + browse.interval
    browse.interval = min(browse.interval * 2, Self.longestInterval)
    browses[id] = browse
  }

  /// Removes the expired records of an instance.
  private mutating func expire(_ key: CacheKey, at now: Instant) {
    guard let instance = instances[key] else { return }
    for (name, lifetime) in instance.pointers where lifetime.expires <= now {
      removePointer(name, of: key)
      dirty.insert(key)
    }
    if let service = instance.service, service.lifetime.expires <= now {
      setService(nil, of: key)
      instances[key]?.attempts = 0
      dirty.insert(key)
    }
    if let text = instance.text, text.lifetime.expires <= now {
      instances[key]?.text = nil
      instances[key]?.attempts = 0
      dirty.insert(key)
    }
  }

  /// Queries the missing records of an instance, and those due for a refresh.
  private mutating func advanceInstance(_ key: CacheKey, _ questions: inout Questions, at now: Instant) {
    guard var instance = instances[key] else { return }
    for name in instance.pointers.keys.sorted() {
      if instance.pointers[name]?.takeRefresh(at: now) ?? false { questions.add(name, .ptr) }
    }
    if instance.service?.lifetime.takeRefresh(at: now) ?? false { questions.add(key.name, .srv) }
    if instance.text?.lifetime.takeRefresh(at: now) ?? false { questions.add(key.name, .txt) }
    if let attempt = instance.nextAttempt, attempt <= now {
      let isFirst = instance.attempts == 0
      if instance.service == nil { questions.add(key.name, .srv, wantsUnicast: isFirst) }
      if instance.text == nil { questions.add(key.name, .txt, wantsUnicast: isFirst) }
      if let host = instance.service?.host,
        hosts[CacheKey(interface: key.interface, name: host)]?.addresses.isEmpty ?? true
      {
        questions.add(host, .aaaa, wantsUnicast: isFirst)
        questions.add(host, .a, wantsUnicast: isFirst)
      }
      instance.attempts += 1
      instance.nextAttempt =
        instance.attempts < CachedInstance.maximumAttempts
        ? now + .seconds(1 << min(instance.attempts - 1, 6)) : nil
    }
    instances[key] = instance
  }

  private mutating func advanceHost(_ key: CacheKey, _ questions: inout Questions, at now: Instant) {
    guard let host = hosts[key] else { return }
    for address in host.sorted {
      if let lifetime = host.addresses[address], lifetime.expires <= now {
        hosts[key]?.addresses[address] = nil
        for name in host.instances {
          instances[CacheKey(interface: key.interface, name: name)]?.attempts = 0
          dirty.insert(CacheKey(interface: key.interface, name: name))
        }
      } else if hosts[key]?.addresses[address]?.takeRefresh(at: now) ?? false {
        questions.add(key.name, DNSRecordData(address).type)
      }
    }
  }

  // MARK: - Packets

  /// Sends questions to all configured destinations.
  private mutating func send(_ questions: [DNSQuestion], at now: Instant) {
    if questions.isEmpty { return }
    for interface in knownInterfaces { recordQueries(questions, on: interface, at: now) }
    if options.interfaces.isEmpty {
      let packets = packets(questions, known: nil, at: now)
      for bytes in packets {
        outbox.append(DNSOutput(bytes: bytes, destination: .multicast(interface: nil, isIPv6: nil)))
      }
      if options.sendsDirect {
        for bytes in packets { outbox.append(DNSOutput(bytes: bytes, destination: .direct)) }
      }
      return
    }
    for interface in options.interfaces {
      for bytes in packets(questions, known: interface, at: now) {
        outbox.append(DNSOutput(bytes: bytes, destination: .multicast(interface: interface, isIPv6: nil)))
      }
    }
    if options.sendsDirect {
      for bytes in packets(questions, known: nil, at: now) {
        outbox.append(DNSOutput(bytes: bytes, destination: .direct))
      }
    }
  }

  /// Encodes questions. Pointer questions come first, with the known answers of one interface or of all, which may
  /// continue in further packets (RFC 6762 § 7.2). The other questions follow in separate packets.
  private func packets(_ questions: [DNSQuestion], known interface: InterfaceID?, at now: Instant) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    let pointers = questions.filter { $0.type == .ptr }
    let answers = knownAnswers(to: pointers, on: interface, at: now)
    for (group, answers) in [(pointers, answers), (questions.filter { $0.type != .ptr }, [])] where !group.isEmpty {
      var message = DNSMessage()
      var writer = DNSWriter(limit: MulticastDNS.packetSize)
      func close(truncated: Bool) {
        if truncated { message.flags |= DNSMessage.truncatedFlag }
        packets.append(message.encoded(limit: DNSMessage.maximumSize))
        message = DNSMessage()
        writer = DNSWriter(limit: MulticastDNS.packetSize)
      }
      for question in group {
        if !writer.append(question) {
          close(truncated: false)
          _ = writer.append(question)
        }
        message.questions.append(question)
      }
      for answer in answers {
        if !writer.append(answer) {
          close(truncated: true)
          _ = writer.append(answer)
        }
        message.answers.append(answer)
      }
      close(truncated: false)
    }
    return packets
  }

  /// Returns the cached pointers that have more than half of their TTL left.
  private func knownAnswers(to questions: [DNSQuestion], on interface: InterfaceID?, at now: Instant) -> [DNSRecord] {
    let names = Set(questions.map(\.name))
    var seen: Set<DNSRecord> = []
    var answers: [DNSRecord] = []
    var keys: Set<CacheKey> = []
    for name in names { keys.formUnion(pointing[name] ?? []) }
    for key in keys.sorted() where interface == nil || key.interface == interface {
      guard let instance = instances[key] else { continue }
      for name in instance.pointers.keys.sorted() where names.contains(name) {
        guard let ttl = instance.pointers[name]?.knownTTL(at: now) else { continue }
        let record = DNSRecord(name, .ptr(key.name), ttl: ttl)
        if seen.insert(record.identity).inserted { answers.append(record) }
      }
    }
    return answers
  }
}
