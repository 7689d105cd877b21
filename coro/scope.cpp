// SPDX-License-Identifier: MIT
// scope.cpp - cancels a scope: visits the lists of its operations and inner domains.
#include <comad/coro/scope.hpp>

#include <cassert>

namespace comad::coro {

scope_state::scope_state(scope_state* parent) noexcept : parent_(parent) {
    if (!parent) return;
    cancelled_ = parent->cancelled_;
    next_ = parent->inner_;
    if (next_) next_->previous_ = this;
    parent->inner_ = this;
}

scope_state::~scope_state() {
    assert(!first_ && !inner_ && "a task outlives its scope");
    if (!parent_) return;
    (previous_ ? previous_->next_ : parent_->inner_) = next_;
    if (next_) next_->previous_ = previous_;
}

void scope_state::cancel() noexcept {
    cancelled_ = true;
    for (pending* p = first_; p;) {
        pending* next = p->next_;
        p->cancel();
        p = next;
    }
    for (scope_state* s = inner_; s; s = s->next_) s->cancel();
}

} // namespace comad::coro
