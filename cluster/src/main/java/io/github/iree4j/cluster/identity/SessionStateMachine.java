package io.github.iree4j.cluster.identity;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * The state of the nodes' log: {@link SessionCounts}. Rebuilt from the whole log at every start; the log has an entry
 * for each granted session, at most 65,280.
 */
final class SessionStateMachine extends BaseStateMachine {
    static final String NOTHING = "nothing";
    private static final Pattern GRANT = Pattern.compile("grant ([0-9]{1,3}) ([0-9a-f]{16})");

    private SessionCounts counts = SessionCounts.of(0); // guarded by this, like the rest
    private boolean begun;

    /** The command granting the next session of a machine index; the first command ever names the cluster. */
    static Message grant(int machine, long clusterId) {
        return text("grant %d %016x".formatted(machine, clusterId));
    }

    static Message text(String text) {
        return Message.valueOf(ByteString.copyFromUtf8(text));
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        String command = entry.getStateMachineLogEntry().getLogData().toStringUtf8();
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        return apply(command);
    }

    /** Applies a command as every other node does: to the earlier commands, and to nothing else. */
    synchronized CompletableFuture<Message> apply(String command) {
        Matcher fields = GRANT.matcher(command);
        if (!fields.matches() || Integer.parseInt(fields.group(1)) > 255) {
            return CompletableFuture.failedFuture(
                    IreeException.of(StatusCode.INVALID_ARGUMENT, "unknown command in the log of identities"));
        }
        int machine = Integer.parseInt(fields.group(1));
        if (!begun) {
            counts = SessionCounts.of(Long.parseUnsignedLong(fields.group(2), 16));
            begun = true;
        }
        if (counts.isExhausted(machine)) {
            return CompletableFuture.completedFuture(text(NOTHING));
        }
        counts = counts.next(machine);
        return CompletableFuture.completedFuture(text(counts.toString()));
    }

    @Override
    public synchronized CompletableFuture<Message> query(Message request) {
        return CompletableFuture.completedFuture(text(begun ? counts.toString() : NOTHING));
    }
}
