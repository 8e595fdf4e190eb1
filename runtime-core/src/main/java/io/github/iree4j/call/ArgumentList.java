package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.tensor.JavaArrays;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.tensor.TensorType;
import io.github.iree4j.vm.Invocation;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of one call: checked against the function's declaration, then lent or copied to the device, at once or
 * after the call has been admitted. The caller may reuse or close the passed objects once {@link #pass} has returned
 * true, or after {@link #hold}. Confined to one thread at a time; closing ends the loans.
 */
final class ArgumentList implements AutoCloseable {
    private final Signature signature;
    private final DeviceMemory memory;
    private final MemoryHolder holder;
    /**
     * First the caller's inputs, then boxed primitives by the calling convention and references as passed. Tensors not
     * yet on the device are {@link TensorElements}, or a {@link Transfer}.
     */
    private final @Nullable Object[] values;
    /** References owned and released by this list, each at the index of its value. Their buffers are on loan: the program cannot deallocate the buffers. */
    private final @Nullable RefCounted[] owned;
    /** Views made by this list: their memory is held by the call. On loan, too, unless given. */
    private List<Made> made = List.of();
    /** Tensors kept in use, each at the index of its value. */
    private final @Nullable TensorElements[] lent;
    /** Tensors transferred to the call, each once; and the call's references, released once the program has its own references. */
    private List<Transfer> taken = List.of();

    private List<RefCounted> given = List.of();
    /** Copies to be made in queue order, of tensors in memory of other devices. */
    private List<PendingCopy> pending = List.of();

    private boolean isHeld;

    /**
     * A view made by the list.
     *
     * @param index of the value
     * @param source the value before: {@link TensorElements}, or a {@link Transfer}
     */
    private record Made(int index, Object source, BufferView view) {
        boolean isLent() {
            return source instanceof TensorElements;
        }
    }

    /**
     * A copy to be made.
     *
     * @param source the tensor's own view, retained: the call may release a transferred tensor before
     * @param target owned by the list, or by the call
     */
    private record PendingCopy(BufferView source, BufferView target) {}

    /** Checks the inputs, and keeps the inputs in use. Nothing is allocated on the device. */
    ArgumentList(Signature signature, DeviceMemory memory, MemoryHolder holder, @Nullable Object[] inputs) {
        this.signature = signature;
        this.memory = memory;
        this.holder = holder;
        this.values = inputs;
        this.owned = new @Nullable RefCounted[inputs.length];
        this.lent = new @Nullable TensorElements[inputs.length];
        String kinds = signature.arguments();
        if (inputs.length != kinds.length()) {
            throw invalid("function '%s' takes %d %s; given %d"
                    .formatted(
                            signature.describe(),
                            kinds.length(),
                            kinds.length() == 1 ? "argument" : "arguments",
                            inputs.length));
        }
        try {
            for (int i = 0; i < inputs.length; i++) {
                values[i] = convert(i, kinds.charAt(i), inputs[i]);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** The size of the tensors. Called before the tensors are passed. */
    InputSize size() {
        long bytes = 0;
        long copied = 0;
        boolean isApart = false;
        for (Object value : values) {
            TensorElements elements = value instanceof Transfer transfer
                    ? transfer.elements()
                    : value instanceof TensorElements own ? own : null;
            if (elements != null) {
                long reserved = memory.reservedBy(elements);
                bytes += elements.byteSize();
                copied += reserved;
                isApart |= reserved > 0 && elements.view() != null;
            }
        }
        return new InputSize(bytes, copied, isApart);
    }

    /**
     * Brings the tensors to the device, and takes the transferred tensors.
     *
     * @param ready whether tensors have their contents; a call waiting for a fence may take tensors earlier
     * @param mayWait whether this thread may wait for memory
     * @return whether all tensors are on the device; false if the rest needs memory, and has to be passed again; never
     *     if this thread may wait
     */
    boolean pass(boolean ready, boolean mayWait) {
        AdmissionGate gate = memory.device().allocator().gate();
        if (!holder.request(gate, memory.consumer(), mayWait, () -> upload(ready))) {
            takeBack();
            return false;
        }
        if (!isHeld) {
            take();
        }
        exitTaken();
        return true;
    }

    /** Takes over the inputs not yet on the device, for a call that waits to be admitted, or for memory of its inputs. */
    void hold() {
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof TensorElements elements && elements.isCopiedFromCaller(memory.device())) {
                TensorElements copy = elements.snapshot();
                copy.enter();
                lent[i] = copy;
                values[i] = copy;
                elements.exit();
            }
        }
        take();
        isHeld = true;
    }

    /**
     * Copies the tensors in memory of other devices to this device, in queue order, as work of the call. Called at most
     * once, after {@link #pass} before the tensors have their contents.
     *
     * @param contents the fence at which the tensors have their contents
     * @return the fence at which the arguments have their contents, released by the caller; null when there is nothing
     *     to copy
     */
    @Nullable
    Fence copyBehind(Fence contents) {
        if (pending.isEmpty()) {
            return null;
        }
        List<Fence> copied = new ArrayList<>(pending.size());
        MemoryHolder before = holder.enter();
        try {
            for (PendingCopy each : pending) {
                copied.add(memory.copy(contents, each.source, each.target));
            }
            return Fence.join(contents, copied.toArray(Fence[]::new)); // the other tensors need no copy
        } finally {
            holder.leave(before);
            copied.forEach(Fence::release);
            releaseSources();
        }
    }

    private void releaseSources() {
        if (!pending.isEmpty()) {
            pending.forEach(each -> each.source.release());
            pending = List.of();
        }
    }

    /** Frees the views made so far: a call waiting for room for all inputs keeps none on the device. */
    private void takeBack() {
        releaseSources();
        for (Made each : made) {
            values[each.index] = each.source;
            if (!each.isLent()) {
                given.remove(each.view);
                each.view.release();
            }
        }
        releaseCopies();
    }

    private void upload(boolean ready) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof TensorElements elements) {
                values[i] = upload(i, elements, ready, false);
            } else if (values[i] instanceof Transfer transfer) {
                values[i] = upload(i, transfer.elements(), ready, true);
            }
        }
    }

    /** The holder of the memory of copied inputs: the call. */
    MemoryHolder holder() {
        return holder;
    }

    /** Takes the transferred tensors from the caller, once nothing else can fail. */
    private void take() {
        if (taken.isEmpty()) {
            return;
        }
        for (Transfer transfer : taken) {
            TensorElements elements = transfer.elements();
            if (!transfer.take().getAsBoolean()) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "tensor %s was closed, or transferred to another call, while it was being transferred to function '%s'"
                                .formatted(elements.header(), signature.describe()));
            }
        }
    }

    private void exitTaken() {
        if (taken.isEmpty()) {
            return;
        }
        for (Transfer transfer : taken) {
            forget(transfer.elements());
            transfer.elements().exit(); // from here on a reference in 'given' holds the memory
        }
        taken = List.of();
    }

    /** Removes a tensor from the tensors in use, once: the tensor may also be lent to the same call. */
    private void forget(TensorElements elements) {
        for (int i = 0; i < lent.length; i++) {
            if (elements.equals(lent[i])) {
                lent[i] = null;
                return;
            }
        }
    }

    /** Passes the arguments to the VM, which retains the references to be kept. Called once. */
    void writeTo(Invocation invocation) {
        String kinds = signature.arguments();
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            switch (kinds.charAt(i)) {
                case 'i' -> invocation.i32((Integer) required(value));
                case 'I' -> invocation.i64((Long) required(value));
                case 'f' -> invocation.f32((Float) required(value));
                case 'F' -> invocation.f64((Double) required(value));
                default -> {
                    if (given.isEmpty()) {
                        invocation.keptRef(value); // closed after the call has ended
                    } else {
                        invocation.ref(value);
                    }
                }
            }
        }
        releaseGiven(); // from now on only the program keeps the given references
    }

    private void releaseGiven() {
        if (!given.isEmpty()) {
            given.forEach(RefCounted::release);
            given = List.of();
        }
    }

    private static Object required(@Nullable Object value) {
        if (value == null) {
            throw new IllegalStateException("a primitive argument was not converted");
        }
        return value;
    }

    private @Nullable Object convert(int index, char kind, @Nullable Object input) {
        return switch (kind) {
            case 'i' -> (int) integer(index, input, Integer.MIN_VALUE, Integer.MAX_VALUE, "i32");
            case 'I' -> integer(index, input, Long.MIN_VALUE, Long.MAX_VALUE, "i64");
            case 'f' -> (float) real(index, input, "f32");
            case 'F' -> real(index, input, "f64");
            case 'r' -> reference(index, input);
            default ->
                throw IreeException.of(
                        StatusCode.UNIMPLEMENTED,
                        "function '%s' takes a variable number of values, which only modules can pass"
                                .formatted(signature.describe()));
        };
    }

    private long integer(int index, @Nullable Object input, long minimum, long maximum, String type) {
        long value = switch (input) {
            case Boolean b -> b ? 1 : 0;
            case Byte v -> v;
            case Short v -> v;
            case Integer v -> v;
            case Long v -> v;
            case null, default -> throw mismatch(index, type, given(input));
        };
        if (value < minimum || value > maximum) {
            throw mismatch(index, type + " (" + minimum + " to " + maximum + ")", Long.toString(value));
        }
        return value;
    }

    private double real(int index, @Nullable Object input, String type) {
        return switch (input) {
            case Float v -> v;
            case Double v -> v;
            case Byte v -> v;
            case Short v -> v;
            case Integer v -> v;
            case Long v -> v;
            case null, default -> throw mismatch(index, type, given(input));
        };
    }

    private @Nullable Object reference(int index, @Nullable Object input) {
        if (input == null) {
            return null;
        }
        AbiDeclaration.@Nullable Value declared = signature.declared(index);
        @Nullable TensorType wanted = declared == null ? null : declared.tensor();
        if (input instanceof TensorElements elements) {
            keep(index, elements, wanted);
            return elements;
        }
        if (input instanceof Transfer transfer) {
            keep(index, transfer, wanted);
            return transfer;
        }
        if (input instanceof BufferView view) {
            if (wanted != null && !wanted.accepts(view.elementType(), view.shape())) {
                throw mismatch(index, null, view.toString());
            }
            view.retain();
            own(index, view);
            return view;
        }
        if (input.getClass().isArray() || input instanceof Number || input instanceof Boolean) {
            TensorElements elements;
            try {
                elements = JavaArrays.toElements(input, wanted);
            } catch (IreeException e) {
                throw IreeException.of(
                        e.code(), "%s: %s".formatted(signature.describeArgument(index), e.getMessage()), e);
            }
            keep(index, elements, wanted);
            return elements;
        }
        if (wanted != null) {
            throw mismatch(index, null, given(input));
        }
        if (input instanceof RefCounted counted) {
            counted.retain();
            own(index, counted);
        }
        return input;
    }

    /** Takes ownership of a reference, and lends the reference's buffer. */
    private void own(int index, RefCounted reference) {
        owned[index] = reference;
        if (bufferOf(reference) instanceof Buffer buffer) {
            buffer.lend();
        }
    }

    private static @Nullable Buffer bufferOf(RefCounted reference) {
        return switch (reference) {
            case Buffer buffer -> buffer;
            case BufferView view -> view.buffer();
            default -> null;
        };
    }

    /** Keeps a tensor in use until the call takes the tensor over. */
    private void keep(int index, Transfer transfer, @Nullable TensorType wanted) {
        if (isTaken(transfer.elements())) { // passed twice: in use already
            return;
        }
        keep(index, transfer.elements(), wanted);
        if (taken.isEmpty()) {
            taken = new ArrayList<>();
            given = new ArrayList<>();
        }
        taken.add(transfer);
    }

    private boolean isTaken(TensorElements elements) {
        return taken.stream().anyMatch(each -> each.elements().equals(elements));
    }

    /** Keeps a tensor in use. */
    private void keep(int index, TensorElements elements, @Nullable TensorType wanted) {
        try {
            elements.enter();
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "%s: %s".formatted(signature.describeArgument(index), e.getMessage()), e);
        }
        lent[index] = elements;
        if (wanted != null && !elements.fit(wanted)) {
            throw mismatch(index, null, elements.header());
        }
    }

    /** Lends a tensor's elements to the call, or transfers the elements to the call. */
    private Object upload(int index, TensorElements elements, boolean ready, boolean transfer) {
        // Caller-provided storage for a result is declared as a buffer, without a shape.
        AbiDeclaration.Value declared = signature.declared(index);
        boolean storage = declared != null && declared.type().equals("!hal.buffer");
        BufferView view;
        try {
            if (storage) {
                view = memory.uploadEarly(elements);
            } else if (ready) {
                view = memory.upload(elements);
            } else {
                view = uploadLater(elements);
            }
        } catch (IllegalStateException | WrongThreadException e) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "%s: memory of tensor %s cannot be used: %s"
                            .formatted(signature.describeArgument(index), elements.header(), e.getMessage()),
                    e);
        }
        boolean isMade = !view.equals(elements.view());
        if (isMade) {
            if (made.isEmpty()) {
                made = new ArrayList<>(values.length);
            }
            made.add(new Made(index, Objects.requireNonNull(values[index]), view));
        }
        if (transfer) {
            given.add(view);
        } else if (isMade) {
            view.buffer().lend();
        } else {
            own(index, view);
        }
        return storage ? view.buffer() : view;
    }

    /** Brings a tensor to the device before the tensor has its contents; memory of other devices is copied later. */
    private BufferView uploadLater(TensorElements elements) {
        if (!memory.isApart(elements)) {
            return memory.uploadEarly(elements);
        }
        BufferView target = memory.allocate(elements);
        BufferView source = Objects.requireNonNull(elements.view());
        source.retain();
        if (pending.isEmpty()) {
            pending = new ArrayList<>();
        }
        pending.add(new PendingCopy(source, target));
        return target;
    }

    private IreeException mismatch(int index, @Nullable String type, String given) {
        AbiDeclaration.Value declared = signature.declared(index);
        String wanted = type != null ? type : declared != null ? declared.type() : "a reference";
        return invalid("%s is %s; given %s".formatted(signature.describeArgument(index), wanted, given));
    }

    private static String given(@Nullable Object input) {
        if (input == null) {
            return "null";
        }
        if (input instanceof TensorElements || input instanceof Transfer) {
            return input instanceof Transfer ? "TransferredTensor" : "Tensor"; // the caller's type
        }
        Class<?> type = input.getClass();
        return type.isArray()
                ? type.getComponentType().getSimpleName() + "[" + Array.getLength(input) + "]"
                : type.getSimpleName();
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }

    /** Releases the copies made by this list, and nothing else. Runs no code of others. */
    void releaseCopies() {
        if (made.isEmpty()) {
            return;
        }
        for (Made each : made) {
            if (each.isLent()) {
                each.view.buffer().endLoan();
                each.view.release();
            }
        }
        made = List.of();
    }

    @Override
    public void close() {
        releaseSources();
        releaseGiven();
        releaseCopies();
        for (int i = 0; i < owned.length; i++) {
            RefCounted reference = owned[i];
            if (reference != null) {
                owned[i] = null;
                if (bufferOf(reference) instanceof Buffer buffer) {
                    buffer.endLoan();
                }
                reference.release();
            }
        }
        for (int i = 0; i < lent.length; i++) {
            TensorElements elements = lent[i];
            if (elements != null) {
                lent[i] = null;
                elements.exit();
            }
        }
    }
}
