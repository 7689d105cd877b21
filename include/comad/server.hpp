// SPDX-License-Identifier: MIT
// server.hpp - servers that reply to MADs of other nodes.
#pragma once
#include <comad/server/agent.hpp>
#include <comad/server/diags.hpp>
#include <comad/server/responder.hpp>
