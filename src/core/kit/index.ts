export {
  BOUND_EVERYWHERE,
  isLoopbackBind,
  isLoopbackHost,
  isLoopbackName,
  LOGIN_END_PATH,
  LOOPBACK_ADDRESSES,
  parseHost,
  whyNotGlobal,
} from "./address.ts";
export { atOnce, inTurn } from "./at-once.ts";
export { BODY_TOO_LARGE, textWithin } from "./body.ts";
export { bootId } from "./boot.ts";
export { type Bus, makeBus } from "./bus.ts";
export { type Clock, ManualClock, startOfDay, systemClock } from "./clock.ts";
export { canConnect, readAddress, silenceAt } from "./connect.ts";
export { countAll } from "./count-all.ts";
export { CRASH_POINTS, type Crash, type CrashPoint, faultsAt, noCrash } from "./crash.ts";
export type { DeepReadonly } from "./deep-readonly.ts";
export { defined, truthy } from "./defined.ts";
export { entered } from "./entered-dirs.ts";
export { checkSchema, fitTo } from "./fit.ts";
export { GIT_SWITCHED_OFF, settingsAsVariables } from "./git.ts";
export {
  type Apart,
  Branches,
  type Doing,
  type Guard,
  type GuardedWork,
  guarded,
  guardedImport,
  noGuard,
  STOPPED_LARES,
  type Suspicion,
  type WorkKey,
} from "./guard.ts";
export { type IdMaker, randomIds } from "./ids.ts";
export { type Explained, explainIssue, firstIssue, type Issue } from "./issue-words.ts";
export { isTooDeep, isTooDeepYaml, parseJson, parseJsonBody, TooDeep } from "./json-depth.ts";
export { jsonProblem } from "./json-problem.ts";
export { LineReader } from "./json-rpc/line-reader.ts";
export { RPC_CODES, RpcFailure, type RpcHandler, RpcPeer, type RpcWords } from "./json-rpc/peer.ts";
export { Current, Late } from "./late.ts";
export { type Log, silentLog } from "./log.ts";
export { looseJson } from "./loose-json.ts";
export { quotedBeginning, quotedName } from "./name.ts";
export { distance, nearest } from "./nearest.ts";
export { installPackages } from "./npm.ts";
export { isCutShort } from "./option-words.ts";
export { gluedNames, isReaching, pathsInWord } from "./path-words.ts";
export { letOthersRun, pause, untilAborted } from "./pause.ts";
export { quoted } from "./quoted.ts";
export { type Backoff, backoffMs } from "./retry.ts";
export { isSameSecret, ownSecretName, sha256 } from "./secret.ts";
export { isSecretFile } from "./secret-files.ts";
export { brokenForms, secretForms } from "./secret-forms.ts";
export { asSentence } from "./sentence.ts";
export { deadline, following } from "./signals.ts";
export { socketWords } from "./socket-words.ts";
export { dayIn, longStamp, roughly, type Stamp, showsLocally, stampIn } from "./stamp.ts";
export { findSubject } from "./subject.ts";
export { trimCharacters, trimEndCharacters } from "./trim.ts";
export { steersPrograms } from "./variables.ts";
export { quoteLines, visible, visibleLine, withoutHidden } from "./visible.ts";
export { WeakCache } from "./weak-cache.ts";
export { createFile, replaceFile, replaceFileNow, syncFolder, syncFolderNow } from "./whole-file.ts";
export { isZone, NO_ZONE } from "./zone.ts";
