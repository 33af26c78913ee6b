import MatterClusters
import MatterModel

// Inputs, outputs and pages of a video player. The number of an entry is its position from 1.

/// The Media Input server. Application Clusters § 6.9.
public enum MediaInputServer {
  /// Selects the next input.
  static let next = ServerHook<MediaInput, Void>("next")

  /// Returns the server. The selection and the names that clients give survive a restart.
  /// - Parameter inputs: At least one, at most 255.
  public static func make(_ inputs: [MediaSettings.Input]) -> ClusterServer {
    ClusterServer(MediaInput.self, features: [MediaInput.nameUpdates])
      .selecting(MediaInput.currentInput, of: inputs.count)
      .onStart { context in
        context[MediaInput.inputList] = inputs.enumerated().map { index, input in
          .init(
            index: number(index), inputType: input.type, name: context.name(of: number(index)) ?? input.name,
            description: "")
        }
      }
      .initial(
        MediaInput.inputList,
        inputs.enumerated().map { .init(index: number($0), inputType: $1.type, name: $1.name, description: "") }
      )
      .hook(next) { context, _ in
        context[MediaInput.currentInput] = following(context[MediaInput.currentInput], of: inputs.count)
      }
      .on(MediaInput.selectInput) { context, request throws(StatusError) in
        context[MediaInput.currentInput] = try checked(request.index, of: inputs.count)
      }
      .on(MediaInput.showInputStatus) { _, _ throws(StatusError) in }
      .on(MediaInput.hideInputStatus) { _, _ throws(StatusError) in }
      .on(MediaInput.renameInput) { context, request throws(StatusError) in
        let index = try checked(request.index, of: inputs.count)
        context.rename(index, request.name)
        context[MediaInput.inputList] = context[MediaInput.inputList].map { entry in
          var entry = entry
          if entry.index == index { entry.name = request.name }
          return entry
        }
      }
  }
}

/// The Audio Output server. Application Clusters § 6.5.
public enum AudioOutputServer {
  /// Selects the next output.
  static let next = ServerHook<AudioOutput, Void>("next")

  /// Returns the server. The selection and the names that clients give survive a restart.
  /// - Parameter outputs: At least one, at most 255.
  public static func make(_ outputs: [MediaSettings.Output]) -> ClusterServer {
    ClusterServer(AudioOutput.self, features: [AudioOutput.nameUpdates])
      .selecting(AudioOutput.currentOutput, of: outputs.count)
      .onStart { context in
        context[AudioOutput.outputList] = outputs.enumerated().map { index, output in
          .init(index: number(index), outputType: output.type, name: context.name(of: number(index)) ?? output.name)
        }
      }
      .initial(
        AudioOutput.outputList,
        outputs.enumerated().map { .init(index: number($0), outputType: $1.type, name: $1.name) }
      )
      .hook(next) { context, _ in
        context[AudioOutput.currentOutput] = following(context[AudioOutput.currentOutput], of: outputs.count)
      }
      .on(AudioOutput.selectOutput) { context, request throws(StatusError) in
        context[AudioOutput.currentOutput] = try checked(request.index, of: outputs.count)
      }
      .on(AudioOutput.renameOutput) { context, request throws(StatusError) in
        let index = try checked(request.index, of: outputs.count)
        context.rename(index, request.name)
        context[AudioOutput.outputList] = context[AudioOutput.outputList].map { entry in
          var entry = entry
          if entry.index == index { entry.name = request.name }
          return entry
        }
      }
  }
}

/// The Target Navigator server. Application Clusters § 6.11.
public enum TargetNavigatorServer {
  /// The value of CurrentTarget while no target is in the foreground. § 6.11.5.2.
  static let noTarget: UInt8 = 0xFF

  /// Returns the server. No target is in the foreground at first.
  /// - Parameter targets: At least one, at most 254.
  public static func make(_ targets: [String]) -> ClusterServer {
    ClusterServer(TargetNavigator.self)
      .initial(TargetNavigator.targetList, targets.enumerated().map { .init(identifier: number($0), name: $1) })
      .initial(TargetNavigator.currentTarget, noTarget)
      .limiting(TargetNavigator.currentTarget, to: targets.indices.map(number) + [noTarget])
      .answer(TargetNavigator.navigateTarget) { context, request throws(StatusError) in
        guard context.value(OnOff.onOff) ?? true else { return .init(status: .notAllowed) }
        guard (1...targets.count).contains(Int(request.target)) else { return .init(status: .targetNotFound) }
        context[TargetNavigator.currentTarget] = request.target
        return .init(status: .success)
      }
  }
}

private func number(_ index: Int) -> UInt8 { UInt8(clamping: index + 1) }

private func following(_ current: UInt8, of count: Int) -> UInt8 {
  number(Int(current) < count ? Int(current) : 0)
}

private func checked(_ number: UInt8, of count: Int) throws(StatusError) -> UInt8 {
  guard number >= 1, Int(number) <= count else { throw StatusError(.constraintError) }
  return number
}

extension ClusterServer {
  /// Stores the number of the selected entry, by default the first one.
  fileprivate func selecting<C: Cluster>(_ attribute: Attribute<C, UInt8>, of count: Int) -> Self {
    initial(attribute, 1)
      .storing(attribute)
      .limiting(attribute, to: 1...Int64(max(count, 1)))
      .onStart { context in
        // A changed definition may have fewer entries than the last run.
        if Int(context[attribute]) > count { context[attribute] = 1 }
      }
  }
}

extension ServerContext {
  private static func key(_ number: UInt8) -> String { "name/\(number)" }

  /// Returns the name that a client gave an entry.
  fileprivate func name(of number: UInt8) -> String? {
    self[stored: Self.key(number)].flatMap { try? String(tlv: $0) }
  }

  fileprivate mutating func rename(_ number: UInt8, _ name: String) { self[stored: Self.key(number)] = name.tlv }
}
