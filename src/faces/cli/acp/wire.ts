/** The words of ACP version 1 that the bridge says and understands. The tests hold them against the protocol's own schema. */
import type { Json } from "../../../core/domain/index.ts";

export const PROTOCOL_VERSION = 1;

export type StopReason = "end_turn" | "max_turn_requests" | "cancelled";

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string; uri?: string | null }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource_link"; name: string; uri: string; mimeType?: string | null }
  | { type: "resource"; resource: { uri: string; mimeType?: string | null; text?: string; blob?: string } };

export type ToolKind = "read" | "edit" | "search" | "execute" | "fetch" | "think" | "other";
export type ToolStatus = "pending" | "in_progress" | "completed" | "failed";
export type ToolContent =
  | { type: "content"; content: ContentBlock }
  | { type: "diff"; path: string; oldText?: string | null; newText: string };
export interface ToolLocation {
  path: string;
  line?: number;
}

/** A tool call as it is announced. Later updates repeat only what changed. */
export interface ShownCall {
  toolCallId: string;
  title: string;
  name: string;
  kind: ToolKind;
  content: ToolContent[];
  locations: ToolLocation[];
  rawInput: Json;
}

export type SessionUpdate =
  | { sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk"; content: ContentBlock }
  | ({ sessionUpdate: "tool_call"; status: ToolStatus } & ShownCall)
  | ({ sessionUpdate: "tool_call_update"; toolCallId: string; status: ToolStatus } & Partial<ShownCall>)
  | { sessionUpdate: "plan"; entries: PlanEntry[] }
  | { sessionUpdate: "available_commands_update"; availableCommands: AvailableCommand[] }
  | { sessionUpdate: "current_mode_update"; currentModeId: string }
  | { sessionUpdate: "config_option_update"; configOptions: ConfigOption[] }
  | { sessionUpdate: "session_info_update"; title?: string; updatedAt?: string }
  | { sessionUpdate: "usage_update"; used: number; size: number }
  | { sessionUpdate: "notice"; severity: "info" | "warning" | "error"; title: string; description?: string };

export interface PlanEntry {
  content: string;
  priority: "high" | "medium" | "low";
  status: "pending" | "in_progress" | "completed";
}

export interface AvailableCommand {
  name: string;
  description: string;
  input?: { hint: string };
}

export interface ConfigOption {
  id: string;
  name: string;
  category: string;
  type: "select";
  currentValue: string;
  options: { value: string; name: string }[];
}

export interface SessionModes {
  currentModeId: string;
  availableModes: { id: string; name: string; description: string }[];
}

export const said = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
});
