/** Every method of the protocol and its handler, one file per noun. */
import type { EventStream, Handlers } from "../../faces/gateway/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Instance } from "../instance.ts";
import { type A2aMethodParts, makeA2aMethods } from "./a2a.ts";
import { makeAgentMethods } from "./agents.ts";
import { makeApprovalMethods } from "./approvals.ts";
import { makeAttentionMethods } from "./attention.ts";
import { makeBoardMethods } from "./board.ts";
import { makeBudgetMethods } from "./budget.ts";
import { type ChannelMethodParts, makeChannelMethods } from "./channels.ts";
import { makeChatMethods } from "./chat.ts";
import { makeCommandMethods } from "./commands.ts";
import { makeConfigMethods } from "./config.ts";
import { makeContextMethods } from "./context.ts";
import { makeEditorMethods } from "./editor.ts";
import { makeGoalMethods } from "./goals.ts";
import { makeHealthMethods } from "./health.ts";
import { makeHeartbeatMethods } from "./heartbeat.ts";
import { makeHookMethods } from "./hooks.ts";
import { type ImportMethodParts, makeImportMethods } from "./import.ts";
import { type LoginMethodParts, makeLoginMethods } from "./login.ts";
import { makeLogMethods } from "./logs.ts";
import { type McpMethodParts, makeMcpMethods } from "./mcp.ts";
import { makeMemoryMethods } from "./memory.ts";
import { type ModelMethodParts, makeModelMethods } from "./models.ts";
import type { Asks, MethodParts } from "./parts.ts";
import { makePluginMethods } from "./plugins.ts";
import { makePolicyMethods } from "./policy.ts";
import { makeRuntimeMethods } from "./runtimes.ts";
import { makeScheduleMethods } from "./schedule.ts";
import { makeSecretMethods } from "./secrets.ts";
import { makeSecurityMethods, type SecurityParts } from "./security.ts";
import { makeSessionMethods } from "./sessions.ts";
import { makeSkillMethods } from "./skills.ts";
import { makeStatusMethods } from "./status.ts";
import { makeTeamMethods } from "./teams.ts";
import { makeTokenMethods, type TokenParts } from "./tokens.ts";
import { makeTurnMethods } from "./turns.ts";
import { makeUndoMethods } from "./undo.ts";
import { makeUsageMethods } from "./usage.ts";
import { makeWakeMethods } from "./wakes.ts";
import { makeWatchMethods } from "./watch.ts";

/**
 * Everything any handler asks for. The builders of app/ pass it once; each file picks its own part, so a test needs only that.
 */
export type AllMethodParts = MethodParts &
  Asks<keyof Instance> &
  ModelMethodParts &
  ChannelMethodParts &
  McpMethodParts &
  A2aMethodParts &
  SecurityParts &
  LoginMethodParts &
  ImportMethodParts &
  TokenParts & { events: EventStream; vault: Vault; settings: LaresSettings };

/** The type Handlers has every method of the protocol, so a noun that is forgotten here doesn't compile. */
export function makeMethods(parts: AllMethodParts): Handlers {
  return {
    ...makeHealthMethods(parts),
    ...makeStatusMethods(parts),
    ...makeChatMethods(parts),
    ...makeTurnMethods(parts),
    ...makeSessionMethods(parts),
    ...makeEditorMethods(parts),
    ...makeApprovalMethods(parts),
    ...makeAttentionMethods(parts),
    ...makeAgentMethods(parts),
    ...makeSkillMethods(parts),
    ...makeMcpMethods(parts),
    ...makePluginMethods(parts),
    ...makeHookMethods(parts),
    ...makeA2aMethods(parts),
    ...makeRuntimeMethods(parts),
    ...makeMemoryMethods(parts),
    ...makeContextMethods(parts),
    ...makeScheduleMethods(parts),
    ...makeHeartbeatMethods(parts),
    ...makeGoalMethods(parts),
    ...makeBoardMethods(parts),
    ...makeTeamMethods(parts),
    ...makeWakeMethods(parts),
    ...makeWatchMethods(parts),
    ...makeUndoMethods(parts),
    ...makeChannelMethods(parts),
    ...makeModelMethods(parts),
    ...makeSecretMethods(parts),
    ...makePolicyMethods(parts),
    ...makeConfigMethods(parts),
    ...makeTokenMethods(parts),
    ...makeLoginMethods(parts),
    ...makeUsageMethods(parts),
    ...makeBudgetMethods(parts),
    ...makeLogMethods(parts),
    ...makeCommandMethods(parts),
    ...makeSecurityMethods(parts),
    ...makeImportMethods(parts),
  };
}
