import MatterClusters
public import MatterModel
import MatterProtocol

/// The Media Playback server of a video player: titles that play one after the other, and live channels. Application
/// Clusters § 6.10.
///
/// The player plays while the endpoint is on, and continues at the same position when it is switched on again. As a
/// physical action, CurrentState is the player's own remote control.
public enum MediaPlaybackServer {
  private typealias Playback = MediaPlayback
  private typealias Status = MediaPlayback.StatusEnum

  /// Tunes to a channel by its index.
  static let tune = ServerHook<MediaPlayback, Int>("tune")
  /// On/Off of the endpoint changed.
  static let switched = ServerHook<MediaPlayback, Void>("switched")

  /// Returns the server. Without audio tracks or subtitles it lacks that feature.
  public static func make(_ media: MediaSettings) -> ClusterServer {
    var features = [Playback.advancedSeek, Playback.variableSpeed]
    if !media.audio.isEmpty { features.append(Playback.audioTracks) }
    if !media.subtitles.isEmpty { features.append(Playback.textTracks) }
    let server = ClusterServer(Playback.self, features: features)
      .initial(Playback.startTime, .null)
      .deriving(Playback.duration)
      .deriving(Playback.sampledPosition)
      .deriving(Playback.playbackSpeed)
      .deriving(Playback.seekRangeStart)
      .deriving(Playback.seekRangeEnd)
      .limiting(Playback.currentState, to: [.playing, .paused, .notPlaying])
      .onStart { start(media, &$0) }
      .onPoweredTimer(.tick) { update(media, &$0) { _, _ in } }
      .onClockChange { context in if context[scratch: MediaPlayer.self] != nil { publish(media, &context) } }
      .hook(switched) { context, _ in
        let isOn = isOn(&context)
        update(media, &context) { player, now in isOn ? player.play(at: now) : player.interrupt(at: now) }
      }
      .hook(tune) { context, channel in
        update(media, &context) { player, now in player.tune(to: channel, at: now) }
      }
      .onAct(Playback.currentState) { context, state throws(StatusError) in
        let status = control(media, &context) { player, now in
          switch state {
          case .playing: player.play(at: now)
          case .paused: return player.pause(at: now)
          default: player.stop(at: now)
          }
          return .success
        }
        guard status == .success else { throw StatusError(.invalidInState) }
      }
    return tracks(commands(server, media), media)
  }

  // MARK: Commands

  private static func commands(_ server: ClusterServer, _ media: MediaSettings) -> ClusterServer {
    @Sendable func answer(
      _ context: inout ServerContext, _ body: (inout MediaPlayer, Instant) -> Status
    ) -> Playback.PlaybackResponse {
      .init(status: control(media, &context, body), data: context[scratch: MediaPlayer.self]?.name)
    }
    return
      server
      .answer(Playback.play) { context, _ throws(StatusError) in
        answer(&context) { player, now in
          player.play(at: now)
          return .success
        }
      }
      .answer(Playback.pause) { context, _ throws(StatusError) in answer(&context) { $0.pause(at: $1) } }
      .answer(Playback.stop) { context, _ throws(StatusError) in
        answer(&context) { player, now in
          player.stop(at: now)
          return .success
        }
      }
      .answer(Playback.startOver) { context, _ throws(StatusError) in answer(&context) { $0.startOver(at: $1) } }
      .answer(Playback.previous) { context, _ throws(StatusError) in answer(&context) { $0.skip(titles: -1, at: $1) } }
      .answer(Playback.next) { context, _ throws(StatusError) in answer(&context) { $0.skip(titles: 1, at: $1) } }
      .answer(Playback.rewind) { context, _ throws(StatusError) in
        answer(&context) { $0.wind(isForward: false, at: $1) }
      }
      .answer(Playback.fastForward) { context, _ throws(StatusError) in
        answer(&context) { $0.wind(isForward: true, at: $1) }
      }
      .answer(Playback.skipForward) { context, request throws(StatusError) in
        answer(&context) { $0.skip(by: duration(request.deltaPositionMilliseconds), at: $1) }
      }
      .answer(Playback.skipBackward) { context, request throws(StatusError) in
        answer(&context) { $0.skip(by: .zero - duration(request.deltaPositionMilliseconds), at: $1) }
      }
      .answer(Playback.seek) { context, request throws(StatusError) in
        answer(&context) { $0.seek(to: duration(request.position), at: $1) }
      }
  }

  private static func duration(_ milliseconds: UInt64) -> Duration { .milliseconds(Int64(clamping: milliseconds)) }

  /// Changes the player if the endpoint is on.
  private static func control(
    _ media: MediaSettings, _ context: inout ServerContext, _ body: (inout MediaPlayer, Instant) -> Status
  ) -> Status {
    guard isOn(&context), context[scratch: MediaPlayer.self] != nil else { return .notActive }
    var status = Status.success
    update(media, &context) { player, now in status = body(&player, now) }
    return status
  }

  // MARK: Tracks

  private static func tracks(_ server: ClusterServer, _ media: MediaSettings) -> ClusterServer {
    var server = server
    if !media.audio.isEmpty {
      server = server.deriving(Playback.availableAudioTracks).on(Playback.activateAudioTrack) {
        context, request throws(StatusError) in
        let outputs = context.value(AudioOutput.outputList) ?? []
        let index = request.audioOutputIndex.wrapped
        guard outputs.isEmpty || index == nil || outputs.contains(where: { $0.index == index }) else {
          throw StatusError(.constraintError)
        }
        context[Playback.activeAudioTrack] = .value(try track(request.trackID, of: media.audio, &context))
      }
    }
    if !media.subtitles.isEmpty {
      server =
        server
        .deriving(Playback.availableTextTracks)
        .on(Playback.activateTextTrack) { context, request throws(StatusError) in
          context[Playback.activeTextTrack] = .value(try track(request.trackID, of: media.subtitles, &context))
        }
        .on(Playback.deactivateTextTrack) { context, _ throws(StatusError) in
          context[Playback.activeTextTrack] = .null
        }
    }
    return server
  }

  /// Returns a track of the title that plays. The status is that of the reference implementation.
  private static func track(
    _ id: String, of tracks: [MediaSettings.Track], _ context: inout ServerContext
  ) throws(StatusError) -> Playback.TrackStruct {
    guard context[Playback.currentState] != .notPlaying, let track = tracks.first(where: { $0.language == id }) else {
      throw StatusError(.invalidInState)
    }
    return encoded(track)
  }

  private static func encoded(_ track: MediaSettings.Track) -> Playback.TrackStruct {
    .init(
      id: track.language,
      trackAttributes: .init(languageCode: track.language, displayName: .value(track.name)))
  }

  /// Shows the tracks while something plays: the first audio track, and no subtitles, unless others are active.
  private static func publishTracks(_ media: MediaSettings, _ context: inout ServerContext) {
    let isActive = context[Playback.currentState] != .notPlaying
    if context.serves(Playback.availableAudioTracks) {
      context[Playback.availableAudioTracks] = isActive ? .value(media.audio.map(encoded)) : .null
      if !isActive {
        context[Playback.activeAudioTrack] = .null
      } else if context[Playback.activeAudioTrack].wrapped == nil {
        context[Playback.activeAudioTrack] = Nullable(media.audio.first.map(encoded))
      }
    }
    if context.serves(Playback.availableTextTracks) {
      context[Playback.availableTextTracks] = isActive ? .value(media.subtitles.map(encoded)) : .null
      if !isActive { context[Playback.activeTextTrack] = .null }
    }
  }

  // MARK: State

  private static func isOn(_ context: inout ServerContext) -> Bool { context.value(OnOff.onOff) ?? true }

  /// What a player played before a restart.
  private struct Stored: ModelStruct {
    var isChannel = false
    var index: UInt32 = 0
    /// Milliseconds.
    var position: UInt64 = 0

    static let fields: [Field<Self>] = [
      .init(0, "IsChannel", \.isChannel), .init(1, "Index", \.index), .init(2, "Position", \.position),
    ]
  }

  private static let key = "player"

  private static func start(_ media: MediaSettings, _ context: inout ServerContext) {
    var player = MediaPlayer(media, at: context.now)
    if let stored = context[stored: key].flatMap({ try? Stored(tlv: $0) }) {
      let index = Int(stored.index)
      player.restore(stored.isChannel ? .channel(index) : .title(index), duration(stored.position))
    }
    let state = context[Playback.currentState]
    context[scratch: MediaPlayer.self] = player
    let isOn = isOn(&context)
    update(media, &context) { player, now in
      guard isOn, state != .notPlaying else { return }
      if state != .paused || player.pause(at: now) != .success { player.play(at: now) }
    }
  }

  /// Advances the player, changes it, and publishes its state.
  private static func update(
    _ media: MediaSettings, _ context: inout ServerContext, _ change: (inout MediaPlayer, Instant) -> Void
  ) {
    guard var player = context[scratch: MediaPlayer.self] else { return }
    player.advance(to: context.now)
    change(&player, context.now)
    context[scratch: MediaPlayer.self] = player
    var stored = Stored(position: UInt64(clamping: player.position.milliseconds))
    switch player.source {
    case .title(let index): stored.index = UInt32(clamping: index)
    case .channel(let index): (stored.isChannel, stored.index) = (true, UInt32(clamping: index))
    }
    context[stored: key] = stored.tlv
    publish(media, &context)
    if let next = player.nextUpdate { context.schedule(.tick, at: next) } else { context.cancel(.tick) }
  }

  private static func publish(_ media: MediaSettings, _ context: inout ServerContext) {
    guard let player = context[scratch: MediaPlayer.self] else { return }
    let isActive = player.state != .notPlaying
    let duration = isActive ? player.duration.map { UInt64(clamping: $0.milliseconds) } : nil
    context[Playback.currentState] = player.state
    context[Playback.playbackSpeed] = Float(player.speed)
    context[Playback.duration] = Nullable(duration)
    context[Playback.seekRangeStart] = Nullable(duration.map { _ in 0 })
    context[Playback.seekRangeEnd] = Nullable(duration)
    // Without a clock, the time of the sample can't be stated.
    let sample = context.node.utc.map {
      Playback.PlaybackPositionStruct(
        updatedAt: $0.microseconds(at: player.sampledAt),
        position: .value(UInt64(clamping: player.position.milliseconds)))
    }
    context[Playback.sampledPosition] = duration == nil ? .null : Nullable(sample)
    publishTracks(media, &context)
    context.call(ChannelServer.tuned, isActive ? player.channel : nil)
  }
}

extension ClusterServer {
  /// Lets the player of the endpoint follow this On/Off server.
  public func switchingPlayer() -> Self {
    onChange(OnOff.onOff) { context in context.call(MediaPlaybackServer.switched, ()) }
  }
}

extension DeviceEngine {
  /// Returns the name of the title or channel that the player of an endpoint plays; nil if it plays nothing.
  public func nowPlaying(on endpoint: EndpointID) -> String? {
    context.node.index(ClusterPath(endpoint, MediaPlayback.id))
      .flatMap { context.node.clusters[$0].scratch[ObjectIdentifier(MediaPlayer.self)] as? MediaPlayer }?.name
  }
}
