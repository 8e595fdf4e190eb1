package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ViewedConstant;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Constants of a peer on devices of this node, and views of the constants. The peer decides which commands share a view,
 * so nothing here knows the calls of the peer; this node notices the writes. Frames arrive in sequence. Safe from any
 * thread.
 */
final class ServerConstants {
    private static final long ALIGNMENT = 64;

    private final RemoteSession session;
    private final RemoteNode node;
    private final ServerObjects objects;

    ServerConstants(RemoteSession session, ServerObjects objects) {
        this.session = session;
        this.node = session.node();
        this.objects = objects;
    }

    void add(FrameReader in) {
        long handle = in.u64("handle");
        Device device = node.device(in);
        long transfer = session.transfers().ofPeer(in, in.u64("transfer"));
        long length = in.size("length");
        byte[] digest = in.bytes("digest", 32);
        GrantKey key = new GrantKey(in.bytes("key", GrantKey.KEY_BYTES));
        in.end();
        Allocator allocator = device.allocator();
        if (length == 0 || !allocator.hasViews()) {
            throw in.corrupt("constant of %d bytes for device '%s'".formatted(length, device.id()));
        }
        objects.addMemory(in, handle, "constant", key, length, (object, _) -> {
            if (object.tryRetain()) { // otherwise released
                node.slow().execute(() -> fill(object, allocator, transfer, length, digest));
            }
        });
    }

    /** Fills a constant with kept content, or with the bytes of the peer. Ends a reference to the object. */
    private void fill(ServerObject object, Allocator allocator, long transfer, long length, byte[] digest) {
        ViewedConstant constant;
        try {
            constant = allocator.createConstant(ServerObjects.MEMORY, length);
        } catch (IreeException e) {
            object.settleRetained(null, e);
            return;
        }
        MemorySegment known = node.content().find(digest);
        if (known != null && known.byteSize() == length) {
            constant.writable().copyFrom(known);
            object.makeRetained(Runnable::run, () -> sealed(allocator, constant));
            return;
        }
        session.transfers().receive(transfer, 0, constant.writable(), true, () -> null, cause -> {
            if (cause == null) {
                object.makeRetained(node.slow(), () -> {
                    keep(constant, digest);
                    return sealed(allocator, constant);
                });
            } else {
                constant.close();
                object.settleRetained(null, cause);
            }
        });
    }

    /** Checks arrived content, and keeps a copy for constants to come. */
    private void keep(ViewedConstant constant, byte[] digest) {
        MemorySegment bytes = constant.writable();
        long length = bytes.byteSize();
        if (!Arrays.equals(RemoteClient.digest(bytes), digest)) {
            constant.close();
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "%d bytes of constants do not have the digest that was announced".formatted(length));
        }
        if (length <= node.content().limit()) {
            node.content()
                    .add(digest, Arena.ofAuto().allocate(length, ALIGNMENT).copyFrom(bytes));
        }
    }

    private static ServerConstant sealed(Allocator allocator, ViewedConstant constant) {
        try {
            return ServerConstant.of(allocator, constant);
        } catch (RuntimeException | Error e) {
            constant.close();
            throw e;
        }
    }

    void view(FrameReader in) {
        long handle = in.u64("handle");
        long of = in.u64("constant");
        GrantKey key = new GrantKey(in.bytes("key", GrantKey.KEY_BYTES));
        in.end();
        objects.addMemory(
                in,
                handle,
                "view",
                key,
                0,
                (object, charge) -> derive(object, of, constant -> {
                    long length = constant.buffer().length();
                    return constant.view(() -> {
                        session.post(new FrameWriter(FrameType.WRITTEN).u64(handle));
                        return objects.chargeAgain(length, charge);
                    });
                }));
    }

    void seal(FrameReader in) {
        long handle = in.u64("handle");
        long of = in.u64("view");
        long length = in.size("length");
        GrantKey key = new GrantKey(in.bytes("key", GrantKey.KEY_BYTES));
        in.end();
        objects.addMemory(
                in,
                handle,
                "constant",
                key,
                length,
                (object, _) -> derive(object, of, view -> {
                    if (view.buffer().length() != length) {
                        throw IreeException.of(
                                StatusCode.INVALID_ARGUMENT,
                                "a constant of %d bytes is made of %d bytes"
                                        .formatted(length, view.buffer().length()));
                    }
                    return view.copy();
                }));
    }

    /** Makes an object of another object, once the other is made. */
    private void derive(ServerObject object, long of, Function<ServerConstant, ServerConstant> maker) {
        ServerObject source;
        try {
            source = objects.find(of);
        } catch (IreeException e) {
            object.settle(null, e);
            return;
        }
        Runnable make = () -> {
            boolean runs = object.make(node.slow(), () -> {
                try {
                    return maker.apply(source.get(ServerConstant.class));
                } finally {
                    source.release();
                }
            });
            if (!runs) {
                source.release();
            }
        };
        if (source.isSettledOrThen(make)) {
            make.run();
        }
    }
}
