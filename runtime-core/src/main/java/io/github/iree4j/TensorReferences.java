package io.github.iree4j;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.module.ReferenceAdapter;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.vm.VmTypes;

/** Adapts tensors for methods of Java modules. */
final class TensorReferences implements ReferenceAdapter<Tensor> {
    private final DeviceMemory memory;
    private final Leaks leaks;

    TensorReferences(DeviceMemory memory, Leaks leaks) {
        this.memory = memory;
        this.leaks = leaks;
    }

    @Override
    public Tensor take(Object reference) {
        if (!(reference instanceof BufferView view)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a %s where a tensor is expected".formatted(VmTypes.nameOf(reference)));
        }
        if (!TensorElements.isDense(view)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "a view that is not a dense array, where a tensor is expected");
        }
        view.retain();
        return Tensor.adopt(view, memory, leaks);
    }

    @Override
    public Object give(Tensor value) {
        Object view = lend(value);
        value.close();
        return view;
    }

    @Override
    public Object lend(Tensor value) {
        value.elements().enter();
        try {
            return memory.uploadEarly(value.elements());
        } finally {
            value.elements().exit();
        }
    }

    @Override
    public void done(Tensor value) {
        value.close();
    }
}
