package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Passes the loss of the lease to the node; the node may not exist yet. */
final class Fence implements Consumer<IreeException> {

    private final AtomicReference<@Nullable IreeException> cause = new AtomicReference<>();
    private final AtomicReference<@Nullable ClusterNode> node = new AtomicReference<>();

    @Override
    public void accept(IreeException lost) {
        cause.compareAndSet(null, lost);
        apply();
    }

    void attach(ClusterNode to) {
        node.set(to);
        apply();
    }

    private void apply() {
        IreeException lost = cause.get();
        ClusterNode of = node.get();
        if (lost != null && of != null) {
            of.fence(lost);
        }
    }
}
