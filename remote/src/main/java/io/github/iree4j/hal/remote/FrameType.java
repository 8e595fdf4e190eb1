package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** The kinds of frames, and their streams. The numbers are part of the wire form. */
enum FrameType {
    HELLO(1, PeerStream.CONTROL),
    HELLO_ACK(2, PeerStream.CONTROL),
    REJECT(3, PeerStream.CONTROL),
    READY(5, PeerStream.CONTROL),
    SUBSCRIBE(16, PeerStream.QUEUE),
    UNSUBSCRIBE(17, PeerStream.QUEUE),
    ADVANCE(18, PeerStream.QUEUE),
    FAIL(19, PeerStream.QUEUE),
    OPEN_LANE(32, PeerStream.QUEUE),
    CLOSE_LANE(33, PeerStream.QUEUE),
    ALLOCATE(34, PeerStream.QUEUE),
    LOAD(35, PeerStream.QUEUE),
    LOADED(36, PeerStream.QUEUE),
    RECORD(37, PeerStream.QUEUE),
    RELEASE(38, PeerStream.QUEUE),
    CONSTANT(39, PeerStream.QUEUE),
    VIEW(40, PeerStream.QUEUE),
    SEAL(41, PeerStream.QUEUE),
    WRITTEN(42, PeerStream.QUEUE),
    COMMAND(48, PeerStream.QUEUE),
    ACCEPTED(49, PeerStream.QUEUE),
    COMPLETED(50, PeerStream.QUEUE),
    ASK(51, PeerStream.QUEUE),
    TELL(52, PeerStream.QUEUE),
    PING(53, PeerStream.QUEUE),
    PONG(54, PeerStream.QUEUE),
    LINK(55, PeerStream.QUEUE),
    FETCH(56, PeerStream.QUEUE),
    GOAWAY(57, PeerStream.QUEUE),
    WITHDRAW(58, PeerStream.QUEUE),
    CREDIT(64, PeerStream.BULK),
    DATA(65, PeerStream.BULK),
    ABORT(66, PeerStream.BULK);

    private static final FrameType[] BY_NUMBER = new FrameType[128];

    static {
        for (FrameType type : values()) {
            BY_NUMBER[type.number] = type;
        }
    }

    final int number;
    final PeerStream stream;

    FrameType(int number, PeerStream stream) {
        this.number = number;
        this.stream = stream;
    }

    /**
     * Returns the type of an arrived number.
     *
     * @throws IreeException DATA_LOSS when there is no such type, or the type belongs to another stream
     */
    static FrameType of(int number, PeerStream on) {
        FrameType type = number < BY_NUMBER.length ? BY_NUMBER[number] : null;
        if (type == null) {
            throw IreeException.of(StatusCode.DATA_LOSS, "frame of unknown type %d on %s".formatted(number, on));
        }
        if (type.stream != on) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS, "%s belongs on %s and came on %s".formatted(type, type.stream, on));
        }
        return type;
    }
}
