package io.github.iree4j.tools;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.tools.file.ResultPrinter;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmTypes;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints calls as they happen, nested. A leaf call is a line, any other call a block. Values are bounded in length,
 * calls in number.
 */
final class TracePrinter implements CallTracer {
    /** Maximum number of objects numbered for identification; more would retain too much memory. */
    private static final int MAX_NUMBERED = 10_000;

    private static final int MAX_TEXT = 48;
    private static final int MAX_BYTES = 16;
    private static final int MAX_ITEMS = 16;
    private static final int MAX_LINE = 1000;

    private final PrintWriter out;
    private final int maxDepth;
    private final long maxLines;
    private final Predicate<String> wanted;

    private final Map<Object, String> names = new IdentityHashMap<>();
    private final Map<String, Integer> counts = new HashMap<>();

    /** The call entered last, until the next event. */
    private @Nullable String open;

    private int openDepth;
    private long lines;
    private long hidden;

    TracePrinter(PrintWriter out, int maxDepth, long maxLines, Predicate<String> wanted) {
        this.out = out;
        this.maxDepth = maxDepth;
        this.maxLines = maxLines;
        this.wanted = wanted;
    }

    @Override
    public synchronized void entered(int depth, String function, List<? extends @Nullable Object> arguments) {
        if (isShown(depth, function)) {
            openBlock();
            open = function + "(" + texts(arguments) + ")";
            openDepth = depth;
        }
    }

    @Override
    public synchronized void returned(int depth, String function, List<? extends @Nullable Object> results) {
        end(depth, function, results.isEmpty() ? "" : " -> " + texts(results));
    }

    @Override
    public synchronized void deferred(int depth, String function) {
        end(depth, function, " ... suspended");
    }

    @Override
    public synchronized void resumed(int depth, String function) {
        if (isShown(depth, function)) {
            openBlock();
            open = function + " resumes";
            openDepth = depth;
        }
    }

    @Override
    public synchronized void failed(int depth, String function, IreeException failure) {
        end(
                depth,
                function,
                " !! " + bounded(failure.toString().lines().findFirst().orElse(""), MAX_LINE));
    }

    /** Prints the open call, and the number of omitted lines. */
    synchronized void finish() {
        openBlock();
        if (hidden > 0) {
            out.println("... %d more lines; raise --max_lines, or use --filter or --max_depth".formatted(hidden));
            hidden = 0;
        }
        out.flush();
    }

    private boolean isShown(int depth, String function) {
        return depth <= maxDepth && wanted.test(function);
    }

    /** Opens a block for the call entered last, at an event within the call. */
    private void openBlock() {
        if (open != null) {
            print(openDepth, open + " {");
            open = null;
        }
    }

    private void end(int depth, String function, String outcome) {
        if (!isShown(depth, function)) {
            return;
        }
        if (open != null && openDepth == depth) {
            print(depth, open + outcome);
            open = null;
        } else {
            openBlock();
            print(depth, "}" + (outcome.startsWith(" !!") ? " " + function : "") + outcome);
        }
    }

    private void print(int depth, String text) {
        if (lines == maxLines) {
            hidden++;
            return;
        }
        lines++;
        out.println("  ".repeat(Math.min(depth, 40) - 1) + bounded(text, MAX_LINE));
    }

    private String texts(List<? extends @Nullable Object> values) {
        return values.stream().map(this::text).collect(Collectors.joining(", "));
    }

    private String text(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Float v -> ResultPrinter.general(v) + "f";
            case Double v -> ResultPrinter.general(v);
            case Long v -> v + "L";
            case Integer v -> v.toString();
            case List<?> tuples -> span(tuples);
            case BufferView view -> "%s<%s>".formatted(name(view, "hal.buffer_view"), view);
            case Buffer buffer -> "%s<%d bytes>".formatted(name(buffer, "hal.buffer"), buffer.length());
            case VmBuffer buffer -> contents(buffer);
            case Device device -> name(device, "hal.device");
            case Allocator allocator -> name(allocator, "hal.allocator");
            case Executable executable -> name(executable, "hal.executable");
            case CommandBuffer commands -> name(commands, "hal.command_buffer");
            case Channel channel -> name(channel, "hal.channel");
            case Fence fence -> name(fence, "hal.fence");
            case VmList list -> "%s[%d]".formatted(name(list, "vm.list"), list.size());
            default -> name(value, VmTypes.nameOf(value));
        };
    }

    private String span(List<?> tuples) {
        String shown = tuples.stream()
                .limit(MAX_ITEMS)
                .map(tuple -> tuple instanceof List<?> elements ? "(" + texts(elements) + ")" : text(tuple))
                .collect(Collectors.joining(", "));
        return "[" + shown + (tuples.size() > MAX_ITEMS ? ", ... %d in all]".formatted(tuples.size()) : "]");
    }

    /** A short constant as text, such as a device key or a format; else the first bytes. */
    private static String contents(VmBuffer buffer) {
        MemorySegment bytes = buffer.segment();
        int size = (int) Math.min(bytes.byteSize(), MAX_TEXT);
        byte[] start = bytes.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
        boolean isText = size > 0;
        for (byte b : start) {
            isText &= b >= ' ' && b < 0x7F;
        }
        if (isText) {
            String text = new String(start, java.nio.charset.StandardCharsets.US_ASCII);
            return '"' + text + (bytes.byteSize() > size ? "\"... (%d bytes)".formatted(bytes.byteSize()) : "\"");
        }
        int shown = Math.min(size, MAX_BYTES);
        return "vm.buffer<%d bytes%s%s%s>"
                .formatted(
                        bytes.byteSize(),
                        shown == 0 ? "" : ": ",
                        HexFormat.of().formatHex(start, 0, shown),
                        bytes.byteSize() > shown ? "..." : "");
    }

    /** The name of an object in this trace: type and unique number. */
    private String name(Object object, String type) {
        String known = names.get(object);
        if (known != null) {
            return known;
        }
        if (names.size() == MAX_NUMBERED) {
            return type;
        }
        String name = type + "#" + counts.merge(type, 1, Integer::sum);
        names.put(object, name);
        return name;
    }

    private static String bounded(String text, int limit) {
        return text.length() <= limit ? text : text.substring(0, limit) + "...";
    }
}
